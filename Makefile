# Every target works alone on a fresh machine with Python 3.11 or later: it makes .venv itself, and only when needed.
#   make demo     install the package, show it at work in the terminal, and open the page
#   make test     lint, types and tests: what the continuous integration runs
#   make browser  a Chromium for the tests of the page, where it may be installed
#   make documents  every command and block of README, docs and tutorials, from a clean installation
#   make fuzz     damaged and forged files, on and on (ARGS="readers --cases 20000")
#   make bench    measure beside the peers (ARGS="--quick" for a smoke run)

PYTHON ?= python3
WORKERS ?= auto
ARGS ?=
# Wheels alone, so that no compiler is needed and nothing but the package index is reached.
INSTALL := -m pip install --quiet --only-binary=:all:
# Without bytecode every process that a test starts would compile all that it imports. Of what the tests need most is never
# imported, so that it is compiled when it is.
unexport PYTHONDONTWRITEBYTECODE

BIN := .venv/bin
INSTALLED := .venv/.installed
INSTALLED_DEV := .venv/.installed-dev
CHECKED := src tests benchmarks
APT_INSTALL := apt-get install -y -qq --no-install-recommends chromium fonts-liberation >/dev/null

.PHONY: demo test lint kernels format bench browser documents fuzz clean
.DEFAULT_GOAL := test

demo: $(INSTALLED)
	$(BIN)/germane demo
	@if [ -t 0 ]; then $(BIN)/germane serve; else $(BIN)/germane serve --check --port 0; fi

# What comes before the tests keeps one core busy at a time: so Chromium is unpacked beside the packages, and the kernels
# are compiled beside mypy, once for all workers. A worker keeps the tests of a module together, and takes over from one
# that has more left. There are as many workers as cores, so that BLAS and OpenMP need no threads of their own: waiting for
# one another they would take the time of the other workers.
test:
	+@$(MAKE) --no-print-directory -j 3 lint kernels browser
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

# Debian's chromium, found by its name. Where it may not be installed, the tests of the page say so.
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "installing chromium ..." && \
	    { $(APT_INSTALL) || { apt-get update -qq && $(APT_INSTALL); }; }; } || \
	  echo "no Chromium could be installed: 'apt-get install chromium' as root, then 'make test' again" >&2

lint: $(INSTALLED_DEV)
	$(BIN)/ruff check $(CHECKED)
	$(BIN)/mypy

kernels: $(INSTALLED_DEV)
	$(BIN)/germane warmup --all

format: $(INSTALLED_DEV)
	$(BIN)/ruff format $(CHECKED)
	$(BIN)/ruff check --fix $(CHECKED)

bench: $(INSTALLED)
	$(BIN)/python benchmarks/run.py $(ARGS)

# As a reader would: a new environment, the package built and installed with the extras that the pages name.
documents:
	rm -rf .venv-documents && $(PYTHON) -m venv .venv-documents
	.venv-documents/bin/python -m pip install --quiet --only-binary=:all: '.[learn,plots,clicks,web]'
	.venv-documents/bin/python docs/run.py $(ARGS)

fuzz: $(INSTALLED_DEV)
	cd tests && ../$(BIN)/python -m fuzz $(ARGS)

clean:
	rm -rf .venv .venv-documents artefacts .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist src/*.egg-info
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Germane needs Python 3.11 or later; '$(PYTHON)' is not (choose another: make PYTHON=python3.12)" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	-@$(BIN)/python -m pip install --quiet --upgrade pip  # those that come with Python take three times as long

$(INSTALLED): pyproject.toml | $(BIN)/python
	$(BIN)/python $(INSTALL) --editable '.[web]'
	@touch $@

$(INSTALLED_DEV): pyproject.toml | $(BIN)/python
	$(BIN)/python $(INSTALL) --no-compile --editable '.[dev]'
	@touch $(INSTALLED) $@
