# One command to start, one to test; each does all its own set-up. Needs only Python 3.11 or later, make and git.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=
DATA ?=

.DEFAULT_GOAL := help
.PHONY: help run studio notebook test screenshots lint bench clean lock

help: ## Lists the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 13

run: $(VENV)/.run ## Starts Tributary on its embedded default (ARGS="--port 0" passes options)
	@$(BIN)/tributary serve $(ARGS)

studio: $(VENV)/.studio ## Starts the server of LangGraph Studio (ARGS="--no-browser" passes options)
	@LANGGRAPH_CLI_NO_ANALYTICS=1 $(BIN)/langgraph dev $(ARGS)

notebook: $(VENV)/.notebook ## Runs notebooks/quickstart.ipynb from top to bottom, into build/quickstart.ipynb
	@mkdir -p build
	@$(BIN)/jupyter execute --output ../build/quickstart notebooks/quickstart.ipynb

test: $(VENV)/.dev ## Lints, type checks, and runs all tests (ARGS="tests/unit" runs some)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy
	$(BIN)/pytest --numprocesses auto --maxprocesses 4 --dist loadfile $(ARGS)

bench: $(VENV)/.dev ## Measures what Tributary costs (ARGS="--only turn,start" some; DATA=FOLDER judged sets, too)
	@$(BIN)/tributary prepare
	@$(BIN)/python -m bench $(if $(DATA),--data $(DATA)) $(ARGS)

screenshots: $(VENV)/.dev ## Takes the pictures of the page for the README anew, by the newcomer's tour
	SCREENSHOTS=docs/screenshots $(BIN)/pytest tests/e2e/test_page_tour.py

lint: $(VENV)/.dev ## Formats, and repairs what can be repaired
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock: $(VENV)/.dev ## Renews the lock files from pyproject.toml
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
		pyproject.toml --group test --group lint --output-file requirements-dev.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
		pyproject.toml --constraint requirements-dev.txt --output-file requirements.txt

clean: ## Removes the environment; data stays
	rm -rf $(VENV)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: requirements.txt pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements.txt
	$(BIN)/python -m pip install --quiet --no-deps --editable .
	$(BIN)/tributary prepare
	@touch $@

$(VENV)/.studio: requirements-dev.txt pyproject.toml | $(VENV)/.run
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --constraint requirements-dev.txt --group studio
	@touch $@

$(VENV)/.notebook: requirements-dev.txt pyproject.toml | $(VENV)/.run
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --constraint requirements-dev.txt --group notebook
	@touch $@

$(VENV)/.dev: requirements-dev.txt pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --require-hashes --no-deps -r requirements-dev.txt
	$(BIN)/python -m pip install --quiet --no-deps --editable .
	@touch $@
