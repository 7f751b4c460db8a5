# Everything runs in .venv, which `make setup` creates; no target relies on what the machine happens to have.
PYTHON ?= python3
BIN := .venv/bin
TEST_ARGS ?=
# The tests start hundreds of processes, each of which would compile all modules again.
export PYTHONDONTWRITEBYTECODE :=

# uv takes a fifth of pip's time; where it finds no packages, pip may, which has settings of its own.
install = $(BIN)/uv pip install --quiet --python $(BIN)/python --editable "$(1)" \
	|| $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable "$(1)"

.PHONY: setup demo check quick test pytest test-all tools lint format docs release bench bench-large bench-peers accuracy clean

setup: .venv/.ready

.venv/.installed: pyproject.toml  # what a user has: enough for the demo and the commands that it suggests
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "BagPack needs Python 3.11 or newer: make PYTHON=python3.12 setup")'
	@echo "Setting up .venv (half a minute, once) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv || true
	@$(call install,.[demo])
	@touch $@

.venv/.ready: .venv/.installed
	@echo "Installing what the tests and the documentation need (half a minute, once) ..."
	@$(call install,.[dev])
	@touch $@

demo: .venv/.installed
	@$(BIN)/bagpack demo

check: setup  # half a minute, for daily work: lint, types, and the tests that need no browser, server or second process
	@$(MAKE) --no-print-directory -j 2 lint quick

quick:
	$(BIN)/python -m pytest -q -m "not slow and not costly" --hypothesis-profile quick -n auto --dist loadfile tests/contexts tests/vectors tests/learn tests/evaluate tests/tasks $(TEST_ARGS)

test: setup tools  # lint and types are checked while the tests run
	@$(MAKE) --no-print-directory -j 2 lint pytest

pytest: setup
	$(BIN)/python -m pytest -m "not slow" -n auto --dist loadfile --no-loadscope-reorder --max-worker-restart 0 $(TEST_ARGS)

test-all: setup lint tools
	$(BIN)/python -m pytest -n auto --dist loadfile $(TEST_ARGS)

tools: setup  # not on PyPI: a browser for the explorer's tests, Lucene for OpenSearch's
	@$(BIN)/python scripts/ensure_test_tools.py

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python scripts/check_words.py

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: setup  # the site, in site/; generated pages are regenerated first
	@$(BIN)/python scripts/make_reference.py
	@$(BIN)/python scripts/make_man.py
	@$(BIN)/python scripts/draw_architecture.py
	@$(BIN)/python scripts/draw_overview.py
	@$(BIN)/python scripts/readme_tables.py
	@NO_MKDOCS_2_WARNING=1 PYTHONWARNINGS=ignore $(BIN)/mkdocs build --strict
	@echo "The site is site/index.html. Its search needs a server: $(BIN)/python -m http.server -d site"

release: setup  # sdist and wheel in dist/, checked, installed into a clean environment, and run
	$(BIN)/python scripts/release.py

bench: setup
	$(BIN)/python -m benchmarks

bench-large: setup  # up to a billion tokens: ten minutes and 30 GB of disk, freed at the end
	$(BIN)/python -m benchmarks.bench_large

bench-peers: setup  # peers that are not installed are skipped, with the command that installs them
	$(BIN)/python -m benchmarks.bench_peers

accuracy: setup  # writes the tables of docs/accuracy.md; needs the corpus and the data sets next to the checkout
	$(BIN)/python -m benchmarks.accuracy

clean:
	rm -rf .venv demo bench-data dist build site
