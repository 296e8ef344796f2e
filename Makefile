# Penstock: `make help` lists what can be made.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup check test soak demo bench docs reference lock format clean

help:  ## Show this list
	@awk -F':.*## ' '/^[a-z]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP)  ## Make .venv with Penstock and all it needs

$(STAMP): requirements/dev.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Penstock needs Python 3.11 or later")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(STAMP)

check: setup  ## Format, lint, types, layers, sizes
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/sizes.py

test: setup  ## Run every test
	$(BIN)/python -m pytest -n 2

soak: setup  ## Simulate many more seeds than the tests do (SEEDS=500)
	$(BIN)/python -m tests.simulation.soak --seeds $(or $(SEEDS),500)

demo: setup  ## Prove and run the example workflows
	$(BIN)/penstock demo

bench: $(VENV)/.bench-ready  ## Measure Penstock beside its neighbours and the bare database
	$(BIN)/penstock bench net
	$(BIN)/penstock bench engine

$(VENV)/.bench-ready: $(STAMP) requirements/bench.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/bench.lock
	@touch $@

docs: setup  ## Build the documentation into site/
	$(BIN)/mkdocs build --strict --quiet

reference: setup  ## Write docs/reference/cli.md and api.md from the commands and calls
	$(BIN)/python scripts/write_reference.py

lock:  ## Make the hashed requirement locks anew (needs uv)
	for name in runtime build dev bench; do \
	  uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	    requirements/$$name.in -o requirements/$$name.lock; done

format: setup  ## Format the code and mend what ruff can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:  ## Remove what was made
	rm -rf $(VENV) site dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
