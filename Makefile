# Penstock: `make help` lists what can be made.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.ready
RUNS   := $(VENV)/.runs
COMPILE := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate

.DEFAULT_GOAL := help
# What Python has compiled is kept: otherwise each process of a test run compiles every test anew.
unexport PYTHONDONTWRITEBYTECODE
.PHONY: help install packages pages setup check test test-all coverage trust soak demo bench bench-setup budgets docs reference pictures lock format clean

help:  ## Show this list
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(if $(wildcard $(STAMP)),$(STAMP),$(RUNS))  ## Make .venv with Penstock and what it runs with, and build the web pages
	@$(BIN)/python scripts/web.py build

setup: $(STAMP)  ## The same with everything that tests and checks need, and keep Node and its packages: 2 GB
	@$(BIN)/python scripts/web.py install
	@$(BIN)/python scripts/web.py build

# An installation that was cut short leaves no stamp. The next one begins with an empty environment, because pip takes
# what is half installed for whole.
define environment
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Penstock needs Python 3.11 or later")'
	$(PYTHON) -m venv $(if $(wildcard $(STAMP) $(RUNS)),,--clear) $(VENV)
	@rm -f $(STAMP) $(RUNS)
endef

# What is locked in $(1), and Penstock.
define install
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes $(1:%=-r %)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
endef

$(STAMP): requirements/dev.lock pyproject.toml
	$(environment)
	$(call install,requirements/dev.lock)
	@touch $@

$(RUNS): requirements/runtime.lock requirements/build.lock pyproject.toml
	$(environment)
	@$(MAKE) --no-print-directory -j2 packages pages

# These two run side by side. Whichever fails, the other finishes and need not be done again.
packages:
	$(call install,requirements/runtime.lock requirements/build.lock)
	@touch $(RUNS)

pages:
	@$(BIN)/python scripts/web.py build

check: setup  ## Format, lint, types, layers, sizes, hot paths, walks, and what it is made of
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/sizes.py
	$(BIN)/python scripts/sleeps.py
	$(BIN)/python scripts/phrases.py
	$(BIN)/python scripts/names.py
	$(BIN)/python -m pytest --collect-only --quiet --quiet > /dev/null
	$(BIN)/python scripts/hot_paths.py
	$(BIN)/python -m scripts.walks
	$(BIN)/python scripts/supply.py
	$(BIN)/python scripts/web.py check

test: setup  ## Run the tests, about 10 minutes on two cores (ARGS="tests/kernel -k join": only those)
	@$(BIN)/python scripts/debian.py
	@$(BIN)/python scripts/run_tests.py $(ARGS)

test-all: setup  ## Run every test, the long ones too: simulations, chaos, fuzzing, planted bugs, all of the pages
	@$(BIN)/python scripts/debian.py
	@$(BIN)/python scripts/run_tests.py --all

coverage: setup  ## Measure which branches of src/ `make test` takes, into build/coverage: twice as long as `make test`
	@$(BIN)/python scripts/debian.py
	@mkdir -p build/coverage && rm -f build/coverage/*
	$(BIN)/coverage run scripts/run_tests.py
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --sort=cover > build/coverage/report.txt
	$(BIN)/coverage json --quiet -o build/coverage/report.json
	@$(BIN)/python -c 'import json; t = json.load(open("build/coverage/report.json"))["totals"]; \
	print("%.1f %% of branches, %.1f %% of lines" % (t["percent_branches_covered"], t["percent_statements_covered"]))'

trust: setup  ## Try to break it in every way there is, and write the figures to docs/trust.json
	@$(BIN)/python scripts/debian.py
	$(BIN)/python -m tests.trust

soak: setup  ## Simulate many more seeds than the tests do (SEEDS=500 FIRST=100000)
	$(BIN)/python -m tests.simulation.soak --seeds $(or $(SEEDS),500) --first $(or $(FIRST),100000)

demo: install  ## Start a server with the example workflows and some runs
	$(BIN)/penstock demo

bench-setup: setup  ## Install the neighbours for the benchmark, each into an environment below bench/.envs
	$(BIN)/python -m bench.setup

bench: setup  ## Measure Penstock beside its neighbours and the bare database (QUICK=1: within 5 minutes)
	$(BIN)/python -m bench $(if $(QUICK),--quick)

budgets: setup  ## Write the figures of hot paths and walks anew: what `make check` holds the next change to
	$(BIN)/python scripts/hot_paths.py --write
	$(BIN)/python -m scripts.walks --write

docs: setup  ## Build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

reference: setup  ## Write the reference, the schema of definitions and the types of the web pages from the code
	$(BIN)/python -m scripts.reference

pictures: setup  ## Take the drawings, and what the browser tests saw, into docs/img
	$(BIN)/python scripts/pictures.py
	$(BIN)/python scripts/rooms.py
	$(BIN)/python scripts/screens.py

lock:  ## Make the hashed requirement locks anew (needs uv)
	for name in runtime build node dev; do $(COMPILE) requirements/$$name.in -o requirements/$$name.lock; done
	for folder in bench/peers/*/; do $(COMPILE) $${folder}requirements.in -o $${folder}requirements.txt; done

format: setup  ## Format the code and mend what ruff can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:  ## Remove what was made
	rm -rf $(VENV) site dist build web/node_modules src/penstock/web/dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
