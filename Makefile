# `make help` lists the targets. Every target makes the environment it needs in .venv.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.DEFAULT_GOAL := help
.PHONY: help demo test unit lint docs screenshots bench reproduce release-check clean

help:  ## Show the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

.venv/.base: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) install -e ".[plot]"
	@touch $@

.venv/.test: .venv/.base
	$(PIP) install -e ".[test]"
	@touch $@

.venv/.testall: .venv/.test
	$(PIP) install -e ".[test-all]"
	@touch $@

.venv/.docs: .venv/.test
	$(PIP) install -e ".[docs]"
	@touch $@

.venv/.bench: .venv/.test
	$(PIP) install -e ".[bench]"
	@touch $@

demo: .venv/.base  ## Train, compare in an FPR band, write the HTML reports
	$(BIN)/python -m aucuba.demo

test: lint unit  ## Lint, type check and run the tests

# One thread a worker: two workers whose OpenMP threads wait for each other on two cores crawl.
unit: .venv/.test
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2

lint: .venv/.test  ## ruff and mypy only
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: .venv/.docs  ## Build the HTML documentation, warnings as errors, and check its links
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html
	$(BIN)/python docs/check_links.py docs/_build/html
	@echo "Open docs/_build/html/index.html"

# The pages as they are, without running the gallery's examples: minutes faster than `make docs`.
screenshots: .venv/.docs  ## Pictures of the documentation and of a report, in artefacts/
	$(BIN)/python -m sphinx -q -D plot_gallery=0 -b html docs docs/_build/quick
	$(BIN)/python docs/check_links.py docs/_build/quick --without-gallery
	$(BIN)/python docs/make_screenshots.py docs/_build/quick $${AUCUBA_ARTEFACTS:-artefacts}

bench: .venv/.bench  ## Run the benchmarks and rewrite their tables
	$(BIN)/python -m benchmarks

reproduce: .venv/.test  ## Rerun the papers' experiments (AUCUBA_DATA names the data), resumable
	$(BIN)/python -m reproductions --all

# The wheel alone in an environment of its own, away from the checkout: what a user will have.
release-check: .venv/.base  ## Build wheel and sdist, check them, run the README example from the wheel
	$(PIP) install build twine pytest
	rm -rf dist .venv/release
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m twine check --strict dist/*
	$(PYTHON) -m venv .venv/release
	.venv/release/bin/python -m pip --disable-pip-version-check --quiet install dist/*.whl pytest
	cp README.md .venv/release/README.md
	cd .venv/release && bin/python -m pytest -q -p no:cacheprovider -c /dev/null --rootdir . \
	  --doctest-glob=README.md README.md
	.venv/release/bin/python -c "import aucuba; print('aucuba', aucuba.__version__, 'runs from its wheel')"

clean:  ## Remove the environment and everything built
	rm -rf .venv dist build docs/_build docs/gallery docs/api/generated docs/results demo_output
