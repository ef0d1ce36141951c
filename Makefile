# make demo | test | check do all their own set-up in .venv, from a bare clone.
SHELL := /bin/bash
VENV ?= .venv
BIN := $(VENV)/bin
OUT ?= demo-out

# The first interpreter that really runs and is new enough; override with PYTHON=…
PYTHON ?= $(shell for p in python3.12 python3.13 python3.11 python3 python; do \
  $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo $$p && break; done)

.PHONY: help demo test quick check format bench chaos clean
help:
	@echo "make demo    real documents -> kept training rows, with the built-in model"
	@echo "make test    every test (fast, model, notebook, chaos, wheel)"
	@echo "make quick   the fast tests only"
	@echo "make check   ruff, mypy, codespell, import directions"
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

demo: $(VENV)/.ready-documents+local
	@$(BIN)/synthnb demo --out $(OUT)

test: $(VENV)/.ready-dev
	$(BIN)/python -m pytest
	$(BIN)/python -m pytest -m "model or notebook or chaos or wheel"

quick: $(VENV)/.ready-dev
	$(BIN)/python -m pytest

chaos: $(VENV)/.ready-dev
	SYNTHNB_KILLS=500 $(BIN)/python -m pytest -m chaos

check: $(VENV)/.ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy tests/typing/api.py
	$(BIN)/codespell
	$(BIN)/python -m pytest -q tests/house

format: $(VENV)/.ready-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.ready-dev
	$(BIN)/python bench/run.py

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
