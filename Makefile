# Every target sets up its own virtual environment: all it needs is python3 and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# One process a core, each with one thread: threads of several processes wait for each other.
JOBS ?= auto
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal
# Real datasets live beside the project; what needs them skips, with a reason, where they are not.
export KARAT_DATA ?= $(abspath ../shared/data)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Tests start many processes: where byte code may not be written, each compiles all of karat anew.
export PYTHONDONTWRITEBYTECODE :=

LOWEST := $(VENV)-lowest
RELEASE := $(VENV)-release

.PHONY: help setup demo test fast test-lowest test-pythons check lint types imports doctests format \
  mutants reproduce bench bench-compare docs release-check clean

help:
	@echo "make demo    show on real data what karat answers; writes karat-demo.html"
	@echo "make test    run every test (make fast: without the simulations)"
	@echo "make test-lowest   the tests without the simulations, on the lowest versions allowed"
	@echo "make test-pythons  the same on the other Pythons of this machine (MAKE_THEM=1: from Debian)"
	@echo "make check   formatting, lint, types, import rule, doctests"
	@echo "make mutants inject realistic bugs one at a time; fails where no fast test notices (NAMES=...)"
	@echo "make reproduce   the papers' figures beside karat's; fails where a promised one is missed"
	@echo "make bench   benchmarks, each a ratio against a peer in the same run"
	@echo "make bench-compare BASE=commit   this checkout's benchmarks over those of another commit"
	@echo "make docs    build the documentation into docs/_build"
	@echo "make release-check   build the packages and try them as users will (STEPS=..., WITHOUT=..., MAKE_THEM=1)"

setup: $(VENV)/.ready

# The package alone, as users have it.
$(VENV)/.package: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

# What tests and checks need beside it; neither PyTorch nor a browser.
$(VENV)/.ready: $(VENV)/.package
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@

$(VENV)/.docs: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	@touch $@

demo: $(VENV)/.package
	$(BIN)/karat demo

# Loops are compiled once, and not by every process of the tests anew.
test: setup
	$(BIN)/karat doctor --warm --json >/dev/null
	$(PYTEST)

fast: setup
	$(PYTEST) -m "not slow"

# Old versions of other packages warn of what is deprecated today; that says nothing of karat.
test-lowest:
	$(PYTHON) -m venv --clear $(LOWEST)
	$(LOWEST)/bin/python tools/lowest_versions.py > $(LOWEST)/pins.txt
	$(LOWEST)/bin/python -m pip install --quiet -r $(LOWEST)/pins.txt
	$(LOWEST)/bin/python -m pip install --quiet --no-deps .
	$(LOWEST)/bin/python -m pip check
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(LOWEST)/bin/python -m pytest -q -n $(JOBS) -m "not slow" \
	  -rfE -W ignore::DeprecationWarning -W ignore::PendingDeprecationWarning -W ignore::FutureWarning tests

test-pythons: $(RELEASE)/.ready
	JOBS=$(JOBS) $(RELEASE)/bin/python tools/other_pythons.py $(if $(MAKE_THEM),--make) $(VERSIONS)

check: lint types imports doctests

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: setup
	$(BIN)/mypy

imports: setup
	$(BIN)/lint-imports

# PyTorch is not installed by any target, because it is large: where it is missing, its part is left out.
doctests: setup
	$(BIN)/python -m pytest -q --doctest-modules src \
	  $$($(BIN)/python -c 'import torch' 2>/dev/null || echo --ignore=src/karat/torch)

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Each bug runs the fast tests that are about it, and where they notice nothing those of its package.
mutants: setup
	$(BIN)/python tools/mutants.py $(NAMES)

# Each takes well under a minute. With FULL=1 one after the other, as long as they need (hours), each
# kept in docs/reproductions; AGAIN=1 makes those too that are kept already.
reproduce: setup
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python tools/reproduce.py \
	  $(if $(FULL),--full) $(if $(AGAIN),--again) $(NAMES)

bench: setup
	@set -e; for script in benchmarks/bench_*.py; do echo "== $$script"; $(BIN)/python $$script; done

# For example: make bench-compare BASE=HEAD~1 NAMES="ranking weak"
bench-compare: setup
	$(BIN)/python benchmarks/compare.py $(BASE) $(NAMES)

docs: $(VENV)/.docs
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

$(RELEASE)/.ready:
	$(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/bin/python -m pip install --quiet build twine
	@touch $@

# Every step has an environment of its own, so it takes a while; for example
# make release-check STEPS="build twine contents core"
# MAKE_THEM=1 makes the Pythons that are missing; see test-pythons.
release-check: $(RELEASE)/.ready
	JOBS=$(JOBS) MAKE_THEM=$(MAKE_THEM) $(RELEASE)/bin/python tools/release_check.py $(STEPS) $(if $(WITHOUT),--without $(WITHOUT))

clean:
	rm -rf $(VENV) $(LOWEST) $(RELEASE) dist docs/_build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache karat-demo.html
