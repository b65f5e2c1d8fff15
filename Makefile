# make demo   one command for users: installs into .venv, runs a robot against a box, draws it
# make test   one command for developers: installs with the tools, lints, type-checks, tests
# make test QUICK=1  without the tests of more than a quarter of a second, which tests/slow_tests.txt names
# make test FULL=1   all cells of the large tables too, of which other runs take those with every pair of values
# make test PLAIN=1  with kernels that numba compiles alone, as it does where its version was not tested
# make slow-tests    measures all tests, and writes those that take more than a quarter of a second into tests/slow_tests.txt
# make lint   the static half of `make test`; make unit the other half
# make docs   these pages into build/docs; a warning is an error
# make fuzz MINUTES=5   property tests on examples drawn at random, whole worlds too (TESTS=tests/composition/test_random_worlds.py),
#             and damaged files of every kind (KINDS=scenario)
# make kills KILLS=100   runs of every shipped scenario, killed and resumed, against undisturbed ones, bit for bit
# make portability   the tests with other processors' arithmetic, rounded up, down and to zero, on the oldest and newest Python
# make isolation   every distribution alone, from its wheel, in a fresh environment, with its own tests
# make release   wheels and sdists into dist/, checked, installed into an empty environment, the demo run from there, and `make authors`
# make authors ROLES="model observer"   what `corekit new` writes for these or all roles, installed where nothing is but wheels:
#             its tests, its example and `corekit conform`
# make constraints   renews the versions that all of these install; make test NEWEST=1, LOWEST=1 install others

ifdef PLAIN
export COREKIT_COMPILER := plain
endif

SCENARIO := scenarios/cusp/inclined_box.toml
DEMO ?= corekit run $(SCENARIO) --picture

# Which versions: those of requirements/constraints.txt, or NEWEST=1, or LOWEST=1 (by uv), each in its own folder.
export NEWEST LOWEST
VENV := .venv$(if $(NEWEST),-newest)$(if $(LOWEST),-lowest)
PINS := $(if $(LOWEST),--resolution lowest-direct,$(if $(NEWEST),,--constraint requirements/constraints.txt))
BIN  := $(VENV)/bin
PYPROJECTS := pyproject.toml $(wildcard plugins/*/*/pyproject.toml scenarios/pyproject.toml)

# The first interpreter that runs and is new enough; uv, where present, can bring its own.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.14; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo $$p; break; }; done)

# uv installs in a tenth of the time that pip takes. Where it is not on PATH, pip brings it; where it cannot install, pip does.
UV := $(shell command -v uv 2>/dev/null)
BRING = install --quiet --disable-pip-version-check --no-compile --constraint requirements/constraints.txt pip uv
INSTALL = install() { $(or $(UV),$(BIN)/uv) pip install --quiet --python $(BIN)/python $(PINS) "$$@" || { \
	echo "uv could not install this: pip tries it"; \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile $(PINS) "$$@"; }; }; install
# All distributions are linked by one process: an installer would start one or more for each of them.
LINK = $(BIN)/python tools/editable.py build/editable $$(sed -n 's/^-e //p' requirements/users.txt) && { \
	$(INSTALL) --no-deps --force-reinstall build/editable/*.whl; }
# The lowest versions are looked for of what a source asks for, not of what a wheel does.
WORKSPACE := $(if $(LOWEST),--no-build-isolation $$(grep '^-e ' requirements/users.txt),build/editable/*.whl)
# Requirements of files without their `-c`, `-r` and `-e` lines.
LISTED = grep --no-filename -v '^-'
USERS := requirements/users.txt requirements/build.txt requirements/constraints.txt $(PYPROJECTS)

.PHONY: demo test unit slow-tests lint docs isolation constraints release authors fuzz kills portability format clean
.DEFAULT_GOAL := test

demo: $(VENV)/installed-demo
	PATH="$(CURDIR)/$(BIN):$$PATH" && $(DEMO)

# A process more than there are cores, each with one BLAS thread; the tests of a plugin or of a file stay together. Plugins come
# first: what they compile the rest finds compiled, and the small files of the end leave no core idle.
PYTEST_ARGS ?= --numprocesses auto --dist loadgroup --no-loadscope-reorder

# Some machines ask Python to write no byte code: each of the hundreds of processes here would then compile all it imports.
unexport PYTHONDONTWRITEBYTECODE

# Where the type checker finds modules: found by their installation they would be checked once more, under another name.
SOURCES := $(wildcard plugins/*/*/src) scenarios/src tools/typings tools examples/third_party/torsion-arm/src benchmarks benchmarks/peers

# The type checker needs one core for a moment; the tests go on meanwhile.
test: $(VENV)/installed-dev
	@$(MAKE) --no-print-directory --jobs 2 $(if $(LOWEST)$(PLAIN),,lint) unit

# The first line writes the byte code of all tests once, not once a process; later runs find it.
unit: $(VENV)/installed-dev
	@ls tests/*/__pycache__/test_*-pytest-*.pyc >/dev/null 2>&1 || \
	$(BIN)/python -m pytest --collect-only --quiet --quiet >/dev/null
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest $(PYTEST_ARGS) $(if $(QUICK),--quick) $(if $(FULL),--full)

SECONDS ?= 0.25
# Twice: the first run compiles, the second measures.
slow-tests: $(VENV)/installed-dev
	@for run in 1 2; do OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 \
	$(BIN)/python -m pytest $(PYTEST_ARGS) --slow-above $(SECONDS) || exit; done

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tools/check_imports.py
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/pyrefly check --summary=none --python-interpreter-path $(BIN)/python $(addprefix --search-path ,$(SOURCES))

docs: $(VENV)/installed-docs
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet --builder html docs build/docs
	@echo "build/docs/index.html"

isolation: $(VENV)/installed-dev
	$(BIN)/python tools/isolation.py $(DISTRIBUTIONS)

constraints: $(VENV)/installed-dev
	$(BIN)/python tools/constraints.py

release: $(VENV)/installed-dev
	@$(LISTED) requirements/release.txt > build/release.txt
	@$(INSTALL) -r build/release.txt
	$(BIN)/python tools/release.py
	$(BIN)/python tools/authors.py

authors: $(VENV)/installed-dev
	rm -rf build/release/environment
	$(BIN)/python tools/authors.py $(ROLES)

MINUTES ?= 5
fuzz: $(VENV)/installed-dev
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python tools/fuzz.py --minutes $(MINUTES) $(TESTS)
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python tools/fuzz_files.py --minutes $(MINUTES) $(KINDS)

KILLS ?= 100
kills: $(VENV)/installed-dev
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python tools/kills.py --kills $(KILLS)

# PYTHONS names interpreters that are not on PATH, as PATH names folders; PROFILES are all without it
portability: $(VENV)/installed-dev
	$(BIN)/python tools/portability.py --pytest="$(PYTEST_ARGS)" $(PROFILES)

format: $(VENV)/installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(BIN)/python:
ifneq ($(UV),)
	@$(UV) venv --quiet --seed $(if $(PYTHON),--python $(PYTHON),--python 3.13) $(VENV)
else
	@test -n "$(PYTHON)" || { echo "corekit needs Python 3.11 or newer (or uv) on PATH"; exit 1; }
	@$(PYTHON) -m venv --without-pip $(VENV)
	@$(PYTHON) -m pip --python $@ $(BRING) 2>/dev/null || { $@ -m ensurepip >/dev/null && $@ -m pip $(BRING); } || { \
	rm -rf $(VENV); echo "pip is missing or cannot install: install it (Debian: apt install python3-venv) or uv"; exit 1; }
endif

# One build backend for every distribution, not a fresh one for each.
$(VENV)/installed-demo: $(USERS) | $(BIN)/python
	@echo "installing corekit into $(VENV) (once)"
	@mkdir -p build && $(LISTED) requirements/build.txt > build/backend.txt
	@$(INSTALL) -r build/backend.txt
	@$(LINK)
	@$(INSTALL) $(WORKSPACE)
	@touch $@

$(VENV)/installed-dev: $(USERS) requirements/developers.txt | $(BIN)/python
	@echo "installing corekit and its tools into $(VENV) (once)"
	@mkdir -p build && $(LISTED) requirements/build.txt > build/backend.txt
	@$(INSTALL) -r build/backend.txt
	@$(LINK)
	@$(LISTED) requirements/developers.txt > build/tools.txt
	@$(INSTALL) $(WORKSPACE) -r build/tools.txt
	@touch $@ $(VENV)/installed-demo

$(VENV)/installed-docs: requirements/docs.txt $(VENV)/installed-dev
	@$(LISTED) requirements/docs.txt > build/docs.txt
	@$(INSTALL) -r build/docs.txt
	@touch $@

clean:
	rm -rf .venv .venv-newest .venv-lowest build dist runs
