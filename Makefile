# Everything runs in .venv, which the first target makes. Needed: make, a Python of at least 3.11 with venv, a package index.

# The first Python on the path that is new enough; `make PYTHON=/path/to/python test` chooses another.
NEW_ENOUGH := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c '$(NEW_ENOUGH)' >/dev/null 2>&1 && echo $$p && exit; done; echo python3)

VENV := .venv
RUN := $(VENV)/bin/python
STAMP := $(VENV)/.installed

DEMO_PAIR ?= corpus/row_reduction/rmsnorm_floor_tiles
CORPUS ?= corpus
FUZZ_COUNT ?= 10000
FUZZ_SEED ?= 1

.PHONY: help demo test check sweep execute fuzz bench docs golden clean
.DEFAULT_GOAL := help

help:
	@echo "make demo     compare one labelled pair and print the report"
	@echo "make test     run the tests"
	@echo "make check    lint, format, types, layers, sizes, generated docs"
	@echo "make sweep    read every source under the folders CORPUS (default: corpus);"
	@echo "              with STUBS=FOLDER also compare the tables of NKI with the stubs in a checkout of aws-neuron-sdk"
	@echo "make execute  run kernels of public sources against references: LLMC=FOLDER SAMPLES=FOLDER and the ports of"
	@echo "              PORTS=FOLDER FIRST_PORTS=FOLDER LIBRARY=FOLDER (nki-samples, its first generation, nki-library)"
	@echo "make fuzz     read FUZZ_COUNT mutated snippets of each side (default: $(FUZZ_COUNT)) from the seed FUZZ_SEED"
	@echo "make bench    measure speed; the reading of CUDA on the folders CORPUS (default: corpus)"
	@echo "make docs     regenerate docs/reference"
	@echo "make golden   regenerate the golden reports of the tests and the excerpt in README.md"
	@echo "make clean    remove everything that can be made again, except .venv"

$(STAMP): pyproject.toml
	@$(PYTHON) -c '$(NEW_ENOUGH)' >/dev/null 2>&1 || { \
		echo "portcheck needs Python 3.11 or newer with venv; '$(PYTHON)' is not that: $$($(PYTHON) --version 2>&1)." >&2; \
		echo "Pass another one: make PYTHON=python3.11 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

# portcheck ends with 1 on a port that is not faithful; the demo shows such a port, hence --fail-on never.
demo: $(STAMP)
	@mkdir -p build/demo
	$(VENV)/bin/portcheck diff $(DEMO_PAIR)/kernel.cu $(DEMO_PAIR)/port.py --fail-on never \
		--output markdown=build/demo/report.md --output json=build/demo/report.json
	@echo "Also written: build/demo/report.md, build/demo/report.json"

test: $(STAMP)
	$(RUN) -m pytest -n 2 --dist loadgroup

check: $(STAMP)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(RUN) -m mypy
	$(VENV)/bin/lint-imports
	$(RUN) -m pytest -q tests/architecture/test_sizes.py tests/architecture/test_rooms.py
	$(RUN) tools/generate_docs.py --check

sweep: $(STAMP)
	$(RUN) tools/sweep.py $(CORPUS)
	$(if $(STUBS),$(RUN) tools/stubs.py $(STUBS))

execute: $(STAMP)
	$(if $(LLMC)$(SAMPLES),$(RUN) -m tools.public_kernels $(if $(LLMC),--llm.c $(LLMC)) $(if $(SAMPLES),--cuda-samples $(SAMPLES)))
	$(if $(PORTS)$(FIRST_PORTS)$(LIBRARY),$(RUN) -m tools.public_ports $(if $(PORTS),--samples $(PORTS)) \
	  $(if $(FIRST_PORTS),--first-samples $(FIRST_PORTS)) $(if $(LIBRARY),--library $(LIBRARY)))

fuzz: $(STAMP)
	$(RUN) tools/fuzz.py --count $(FUZZ_COUNT) --seed $(FUZZ_SEED)

bench: $(STAMP)
	$(RUN) benchmarks/run.py
	@$(RUN) -m pip install --quiet --disable-pip-version-check --editable '.[bench]' || \
		echo "numba could not be installed; the executor is timed alone."
	$(RUN) benchmarks/execution.py
	$(RUN) benchmarks/frontend.py $(CORPUS)
	$(RUN) benchmarks/nki_frontend.py

docs: $(STAMP)
	$(RUN) tools/generate_docs.py

golden: $(STAMP)
	$(RUN) tools/golden.py

clean:
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests tools benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
