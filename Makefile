# make demo   one command for users: installs into .venv, runs a robot against a box, draws it
# make test   one command for developers: installs with the tools, lints, type-checks, tests
# make lint   the static half of `make test`; make unit the other half
# make docs   these pages into build/docs; a warning is an error
# make isolation   every distribution alone, from its wheel, in a fresh environment, with its own tests

DEMO ?= corekit run scenarios/cusp/inclined_box.toml --picture

VENV := .venv
BIN  := $(VENV)/bin
PYPROJECTS := pyproject.toml $(wildcard plugins/*/*/pyproject.toml scenarios/pyproject.toml)

# The first interpreter that runs and is new enough; uv, where present, can bring its own.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.14; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo $$p; break; }; done)
UV := $(shell command -v uv 2>/dev/null)

# What `-e` lines of dev.txt and other requirements are installed by.
ifneq ($(UV),)
INSTALL := $(UV) pip install --quiet --python $(BIN)/python
WORKSPACE := --no-build-isolation $$(grep '^-e ' dev.txt)
else
# Byte code is written where a module is first imported: most never are.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
# pip would start three processes for each distribution, and leaves one alone whose version it has already
LINK = $(BIN)/python tools/editable.py build/editable $$(sed -n 's/^-e //p' dev.txt) && \
	$(INSTALL) --no-deps --force-reinstall build/editable/*.whl
WORKSPACE := build/editable/*.whl
endif
# one for every distribution, not a fresh one for each
BUILD_BACKEND := hatchling editables

.PHONY: demo test unit lint docs isolation format clean
.DEFAULT_GOAL := test

demo: $(VENV)/installed-demo
	PATH="$(CURDIR)/$(BIN):$$PATH" && $(DEMO)

# One process a core, each with one BLAS thread; the tests of a plugin or of a file stay together. Plugins come
# first: what they compile the rest finds compiled, and the small files of the end leave no core idle.
PYTEST_ARGS ?= --numprocesses auto --dist loadgroup --no-loadscope-reorder

# The type checker needs one core for a moment; the tests go on meanwhile.
test: $(VENV)/installed-dev
	@$(MAKE) --no-print-directory --jobs 2 lint unit

unit: $(VENV)/installed-dev
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest $(PYTEST_ARGS)

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tools/check_imports.py
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/pyrefly check --summary=none

docs: $(VENV)/installed-docs
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet --builder html docs build/docs
	@echo "build/docs/index.html"

isolation: $(VENV)/installed-dev
	$(BIN)/python tools/isolation.py $(DISTRIBUTIONS)

format: $(VENV)/installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(BIN)/python:
ifneq ($(UV),)
	@$(UV) venv --quiet --seed $(if $(PYTHON),--python $(PYTHON),--python 3.13) $(VENV)
else
	@test -n "$(PYTHON)" || { echo "corekit needs Python 3.11 or newer (or uv) on PATH"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	echo "python's venv module is missing: install it (Debian: apt install python3-venv) or install uv"; exit 1; }
endif

$(VENV)/installed-demo: dev.txt $(PYPROJECTS) | $(BIN)/python
	@echo "installing corekit into $(VENV) (once)"
	@$(INSTALL) $(BUILD_BACKEND)
	@$(LINK)
	@$(INSTALL) $(WORKSPACE)
	@touch $@

$(VENV)/installed-dev: dev.txt $(PYPROJECTS) | $(BIN)/python
	@echo "installing corekit and its tools into $(VENV) (once)"
	@$(INSTALL) $(BUILD_BACKEND)
	@$(LINK)
	@mkdir -p build && grep -v '^-e ' dev.txt > build/tools.txt
	@$(INSTALL) $(WORKSPACE) -r build/tools.txt
	@touch $@ $(VENV)/installed-demo

$(VENV)/installed-docs: docs/requirements.txt $(VENV)/installed-dev
	@$(INSTALL) -r docs/requirements.txt
	@touch $@

clean:
	rm -rf $(VENV) build dist runs
