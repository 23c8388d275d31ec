# teambot: `make help` lists what there is. Only Python 3.11 or newer and make are needed.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help run test lint property bench lock clean

BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
INSTALL := $(PIP) install --no-input
# The locks are whole: with --no-deps pip resolves nothing anew, so a newer release cannot come in by an extra.
# The first Python of 3.11 or newer that can make a virtual environment.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3.14 python3; do \
	$$p -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)

help: ## show this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1\t/' | expand -t 12

run: .venv/.run ## install what is needed, migrate, start teambot and print the address of its page
	@exec $(BIN)/teambot run $(ARGS)

test: tools lint ## install all that the tests need, then run every check
	$(BIN)/python -m pytest $(ARGS)

lint: .venv/.dev ## formatting, lint, types and the directions of imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

property: .venv/.dev ## the property tests at full length
	TEAMBOT_PROPERTY=full $(BIN)/python -m pytest -m hypothesis --timeout=3600 $(ARGS)

bench: .venv/.dev ## measure what README claims
	$(BIN)/python -m benchmarks.footprint

lock: .venv/.dev ## work the locks out anew from pyproject.toml (ARGS=--upgrade for the newest versions)
	@test -x .venv/lock/bin/uv || { $(PYTHON) -m venv .venv/lock && .venv/lock/bin/pip install --quiet uv; }
	$(LOCK) --extra dev -o requirements-dev.lock
	$(LOCK) --extra semantic -c requirements-dev.lock -o requirements-semantic.lock
	$(LOCK) -c requirements-dev.lock -o requirements.lock
	$(BIN)/python -m tests.stand_ins.node lock

clean: ## remove what was installed and built, never data
	rm -rf .venv tests/stand_ins/node_modules .mypy_cache .pytest_cache .ruff_cache .hypothesis
	rm -rf .import_linter_cache teambot.egg-info

LOCK = .venv/lock/bin/uv pip compile pyproject.toml --quiet --universal --generate-hashes \
	--no-emit-index-url --no-header --no-annotate --python-version 3.11 --group build $(ARGS)

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "teambot needs Python 3.11 or newer with the venv module." >&2; exit 1; }
	$(PYTHON) -m venv .venv

.venv/.run: requirements-semantic.lock pyproject.toml | .venv/bin/python
	@echo "Installing teambot into .venv …"
	@$(INSTALL) --require-hashes --no-deps -r requirements-semantic.lock
	@$(INSTALL) --no-deps --no-build-isolation -e .
	@touch $@

.venv/.dev: requirements-dev.lock pyproject.toml | .venv/bin/python
	@echo "Installing teambot and all that its checks need into .venv …"
	@$(INSTALL) --require-hashes --no-deps -r requirements-dev.lock
	@$(INSTALL) --no-deps --no-build-isolation -e .
	@touch $@ .venv/.run

# What pip cannot bring: the stand-ins from npm, a browser, a sandbox. A test whose tool is missing says so.
.PHONY: tools
tools: tests/stand_ins/node_modules/.package-lock.json
	@tests/stand_ins/apt chromium chromium "browser tests" bwrap bubblewrap "tests of the sandbox"

tests/stand_ins/node_modules/.package-lock.json: tests/stand_ins/package-lock.json | .venv/.dev
	@echo "Installing the stand-ins for Slack, Discord and Claude …"
	@$(BIN)/python -m tests.stand_ins.node ci
	@touch $@
