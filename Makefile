# `make help` lists the targets. Every target makes the environment it needs in .venv.
PYTHON ?= python3
BIN := .venv/bin
# For instance `make test-all PYTEST_ARGS=--all-installed`: fail if a package is missing.
PYTEST_ARGS ?=
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.DEFAULT_GOAL := help
.PHONY: help demo test test-all test-oldest unit lint docs screenshots bench reproduce resolve release-check clean

help:  ## Show the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

.venv/.base: pyproject.toml
	@echo "Making .venv and installing aucuba with what it needs (about a minute) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(PIP) install -e ".[plot]"
	@touch $@

.venv/.test: .venv/.base
	@echo "Installing the command line and the tools for testing (about half a minute) ..."
	@$(PIP) install -e ".[test]"
	@touch $@

.venv/.testall: .venv/.test
	@echo "Installing every optional package but PyTorch (about a minute) ..."
	@$(PIP) install -e ".[test-all]"
	@touch $@

# `make test-all TORCH=` leaves PyTorch out. Where pip finds no CPU build, it takes gigabytes.
TORCH ?= torch==2.13.0
.venv/.torch: .venv/.testall
	@echo "Installing $(or $(TORCH),no PyTorch) ..."
	@test -z "$(TORCH)" || { $(PIP) install $(TORCH) && $(PIP) install -e ".[test-torch]"; } \
	  || echo "PyTorch cannot be had here: its tests skip."
	@touch $@

.venv/.chromium: .venv/.base
	@command -v chromium >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null \
	  && echo "Installing Chromium ..." && apt-get -qq update \
	  && apt-get -qq install -y chromium chromium-driver >/dev/null; } \
	  || echo "Chromium cannot be had here: browser tests skip."
	@touch $@

.venv/.docs: .venv/.test
	@echo "Installing Sphinx ..."
	@$(PIP) install -e ".[docs]"
	@touch $@

.venv/.bench: .venv/.test
	@echo "Installing the rivals of the benchmarks (gigabytes: PyTorch is among them) ..."
	@$(PIP) install -e ".[bench]"
	@touch $@

demo: .venv/.base  ## Train, compare in a range of false positive rates, write the HTML reports
	$(BIN)/python -m aucuba.demo

test: lint unit  ## Lint, type check and run the tests that need no optional package

# One thread per worker: two workers whose OpenMP threads wait for each other on two cores crawl.
unit: .venv/.test
	@echo "Running the tests in two processes (about five minutes) ..."
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 $(PYTEST_ARGS)

lint: .venv/.test  ## ruff and mypy only
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@echo "Checking types (up to a minute the first time) ..."
	$(BIN)/mypy

# mypy sees more with PyTorch installed than without.
test-all: .venv/.torch .venv/.chromium  ## Add every extra, PyTorch and Chromium; run what has not passed yet
	$(BIN)/ruff check .
	$(BIN)/mypy
	@echo "Collecting the tests without each optional package in turn (two or three minutes) ..."
	$(BIN)/python -m tests.hide_packages
	@echo "Running what has not passed on these files before ..."
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --not-yet-passed $(PYTEST_ARGS)

OLDEST := .venv/oldest/bin/python
.venv/oldest/.done: pyproject.toml .ci/oldest.txt
	@echo "Installing the oldest supported releases into .venv/oldest (two minutes) ..."
	@test -x $(OLDEST) || $(PYTHON) -m venv .venv/oldest
	@$(OLDEST) -m pip --disable-pip-version-check --quiet install -c .ci/oldest.txt -e ".[test-all]"
	@touch $@

test-oldest: .venv/oldest/.done  ## Run the tests with the lowest versions that pyproject.toml allows
	OMP_NUM_THREADS=1 $(OLDEST) -m pytest -n 2 -p no:cacheprovider

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

# Extras that resolve together resolve one by one, too. Wheels only: nobody has to compile.
PYTHONS := 3.11 3.12 3.13
SYSTEMS := x86_64-manylinux_2_28 aarch64-apple-darwin x86_64-pc-windows-msvc
resolve: .venv/.base  ## Resolve all extras together, as wheels, for every supported Python and system
	$(PIP) install uv
	@for python in $(PYTHONS); do for system in $(SYSTEMS); do \
	  MACOSX_DEPLOYMENT_TARGET=14.0 $(BIN)/uv pip compile --quiet --all-extras --only-binary :all: \
	    --python-version $$python --python-platform $$system pyproject.toml >/dev/null || exit 1; \
	  echo "Python $$python, $$system: all extras resolve together"; \
	done; done

# The wheel alone in an environment of its own, away from the checkout: what a user will have.
release-check: .venv/.base  ## Build wheel and sdist, check them, run the README example from the wheel
	$(PIP) install build twine pytest
	@$(PYTHON) hatch_build.py || echo "-- going on: everything else can be checked without them"
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
