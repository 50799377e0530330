# Two commands: `make demo` and `make test`. Each makes its own virtual environment; nothing is installed elsewhere.
# Debian and Ubuntu: apt install make python3-venv

PYTHON ?= python3
DEMO := .venv
TEST := .venv-test
PIP := pip install --quiet --disable-pip-version-check -c constraints.txt
SOURCES := $(shell find shaderstat -type f -not -name '*.pyc') pyproject.toml README.md

.PHONY: demo test lint bench samples clean

# The built package, as a user installs it.
demo: $(DEMO)/installed
	$(DEMO)/bin/shaderstat stats sample_spirv/

test: lint
	$(TEST)/bin/python -m pytest --cov --cov-report= $(PYTEST)
	$(TEST)/bin/python -m coverage report --fail-under=90 --skip-covered --include='$(PURE)'

# The rooms that do no input or output: every line of theirs can be tested.
PURE := shaderstat/model/*,shaderstat/errors.py,shaderstat/wire.py,shaderstat/registry/*,shaderstat/spirv/*,shaderstat/pipeline/*

lint: $(TEST)/installed
	$(TEST)/bin/ruff check .
	$(TEST)/bin/ruff format --check .
	$(TEST)/bin/mypy

bench: $(TEST)/installed
	$(TEST)/bin/python benchmarks/startup.py
	$(TEST)/bin/python benchmarks/overhead.py
	$(TEST)/bin/python benchmarks/throughput.py

samples:
	sample_spirv/build.sh
	sample_optional/build.sh

clean:
	rm -rf $(DEMO) $(TEST) .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(DEMO)/installed: $(SOURCES) constraints.txt
	$(PYTHON) -m venv $(DEMO)
	$(DEMO)/bin/$(PIP) '.[spirv]'
	@touch $@

# Editable: tests, types and coverage look at this checkout. tests/test_package.py looks at the built package.
$(TEST)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(TEST)
	$(TEST)/bin/$(PIP) -e '.[spirv,test]'
	@touch $@
