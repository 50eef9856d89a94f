# Plenary. `make` alone lists what there is.
# PYTHON=/path/to/python3.12 chooses the interpreter; ARGS="..." is handed to the program that is run.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help setup chat test lint eval pictures lock clean

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input
ARGS ?=
# Tests do without the language model, which is most of the download; they use it where it is.
SMALL_ASSETS := embedding-model tokenizer token-table

help:
	@echo "make setup   create $(VENV), install the pinned packages, fetch the models (about 1.2 GB)"
	@echo "make chat    set up, index data/ and open the chat; prints its address"
	@echo "make test    set up without the language model and run the tests"
	@echo "make lint    ruff and mypy"
	@echo "make eval    measure everything again and write eval/RESULTS.md"
	@echo "make pictures  draw docs/images again (needs /usr/bin/chromium)"
	@echo "make lock    resolve all packages again into constraints.txt (needs uv)"
	@echo "make clean   remove $(VENV), caches and builds; fetched models and indexes stay"

# The first of these that starts and is 3.11 to 3.14; a name on the PATH may be an empty shim.
$(BIN)/python:
	@chosen=""; \
	for candidate in $(if $(PYTHON),"$(PYTHON)",python3.13 python3.12 python3.11 python3 python); do \
		if "$$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' >/dev/null 2>&1; then \
			chosen="$$candidate"; break; \
		fi; \
	done; \
	if [ -z "$$chosen" ]; then \
		echo "Plenary needs Python 3.11 to 3.14, and $(if $(PYTHON),$(PYTHON) is not,none was found on the PATH); name one: make PYTHON=/path/to/python3.12" >&2; \
		exit 1; \
	fi; \
	echo "Creating $(VENV) with $$("$$chosen" --version)"; \
	"$$chosen" -m venv $(VENV) || { \
		rm -rf $(VENV); \
		echo "This Python cannot make environments; on Debian and Ubuntu install python3-venv" >&2; \
		exit 1; \
	}

$(VENV)/.installed: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing the packages (some minutes the first time)"
	@$(PIP) install --quiet --constraint constraints.txt --editable .
	@touch $@

$(VENV)/.installed-for-tests: $(VENV)/.installed
	@echo "Installing what the tests need"
	@$(PIP) install --quiet --constraint constraints.txt --editable '.[test]'
	@touch $@

$(VENV)/.installed-for-eval: $(VENV)/.installed
	@echo "Installing what the evaluation needs"
	@$(PIP) install --quiet --constraint constraints.txt --editable '.[eval]'
	@touch $@

setup: $(VENV)/.installed
	@$(BIN)/plenary assets

chat: setup
	@$(BIN)/plenary index data
	@$(BIN)/plenary chat $(ARGS)

test: $(VENV)/.installed-for-tests
	@$(BIN)/plenary assets $(SMALL_ASSETS)
	@$(BIN)/python -m pytest $(ARGS)

lint: $(VENV)/.installed-for-tests
	@$(BIN)/ruff check .
	@$(BIN)/mypy

eval: setup $(VENV)/.installed-for-eval
	@$(BIN)/python -m eval $(ARGS)

pictures: $(VENV)/.installed-for-tests
	@$(BIN)/plenary assets $(SMALL_ASSETS)
	@$(BIN)/python -m tests.screenshots $(ARGS)

lock:
	uv pip compile --universal --upgrade --python-version 3.11 --all-extras --no-header --no-annotate \
		--no-emit-index-url --no-emit-find-links --quiet --output-file constraints.txt pyproject.toml

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
