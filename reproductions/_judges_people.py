"""The alternative-annotator test: published winning rates and advantages beside karat's."""

from _show import Promise, say

from karat.consensus import annotator_test
from karat.datasets import load_shared

__all__ = ["run_people"]

JUDGES = ("gemini_flash", "gemini_pro", "gpt-4o", "llama-31", "gpt-4o-mini", "mistral-v03")
# ω/ρ in hundredths by judge, printed by the authors' notebook (nitaytech/AltTest) and in Table 2 of
# Calderon, Reichart and Dror 2025; ε as they choose it.
PUBLISHED = {
    "wax": (0.10, "38/69 50/74 50/73 0/57 0/59 0/50"),
    "mtbench": (0.20, "0/72 0/76 0/77 0/69 0/74 0/68"),
    "framing": (0.15, "100/83 100/91 100/92 50/80 100/87 25/80"),
    "cebab_aspects": (0.10, "70/91 90/94 90/93 60/89 50/90 10/81"),
    "10k_prompts": (0.15, "31/67 8/63 69/76 15/67 92/80 15/67"),
}


def run_people(*, quick: bool) -> list[Promise]:
    """Print every judge on every set; promise the printed digits."""
    say("\nMay a judge replace a person? ω/ρ, published and karat's; ω by exact tests; limits.")
    alike, figures, moved = 0, 0, []
    for name, (epsilon, published) in PUBLISHED.items():
        said = load_shared(f"people_and_llms_{name}", "answers")
        people = said[said["kind"] == "human"]
        for judge, printed in zip(JUDGES, published.split(), strict=True):
            if quick and name == "framing" and judge != "gpt-4o":
                continue
            found = annotator_test(
                said[said["annotator"] == judge], people, epsilon=epsilon,
                alignment="rmse" if name == "10k_prompts" else "accuracy",
            )  # fmt: skip
            ours = f"{100 * found.value:.0f}/{100 * found.advantage_rate.value:.0f}"
            figures += 1
            alike += ours == printed
            if found.exact_winning_rate != found.value:
                moved.append(f"{judge} on {name}")
            say(
                f"  {name:14} {judge:13} {printed:>7} {ours:>7}   exact "
                f"{found.exact_winning_rate:.2f}   ω in [{found.lower:.2f}, "
                f"{found.upper:.2f}], ρ in [{found.advantage_rate.lower:.2f}, "
                f"{found.advantage_rate.upper:.2f}]"
            )
    say(f"  exact tests move ω of: {', '.join(moved) or 'nobody'}")
    return [Promise(f"published ω and ρ to the digits, of {figures}", alike, figures)]
