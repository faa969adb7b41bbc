// Everything works without this file. It adds how long a person looked at a question as their own
// device saw it (guideline G5), keys for the answers, and it keeps a second click from posting twice.
"use strict";

document.documentElement.classList.remove("no-js");

let shown = performance.now();

function typing(target) {
  return target instanceof HTMLElement &&
    (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName)) &&
    !["checkbox", "radio", "submit", "button"].includes(target.type);
}

// Milliseconds go into the form's field `client_ms`, whichever button sends it.
document.addEventListener("submit", (event) => {
  const form = event.target;
  const field = form.querySelector("input[name=client_ms]");
  if (field) field.value = Math.round(performance.now() - shown);
  if (form.dataset.sent && !form.hasAttribute("hx-post")) event.preventDefault();
  form.dataset.sent = "yes";
}, true);

// Buttons and links say which key presses them: data-key="1".
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || typing(event.target)) return;
  const wanted = event.key.toLowerCase();
  const found = [...document.querySelectorAll("[data-key]")].find(
    (one) => one.dataset.key.split(" ").includes(wanted) && !one.disabled);
  if (found) {
    event.preventDefault();
    found.click();
  }
});

// A page out of the browser's history is asked for again: it may show a question already answered.
window.addEventListener("pageshow", (event) => {
  shown = performance.now();
  if (event.persisted) window.location.reload();
});

document.addEventListener("htmx:afterSettle", (event) => {
  shown = performance.now();
  const heading = event.target.querySelector("[data-focus]");
  if (heading) heading.focus();
});

// The address to send to people, copied by a button.
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button || !navigator.clipboard) return;
  navigator.clipboard.writeText(button.dataset.copy).then(() => { button.textContent = "Copied"; });
});
