# Two commands do everything, set-up included: `make demo` and `make test`.
# Needed: Python 3.11 or newer, make, and a package registry that pip can reach.

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PEERS := $(VENV)/.peers

.PHONY: help demo test setup lint types tests torture bench-split eval-split bench-pack bench-ingest bench bench-full compare fuzz bench-serve fuzz-serve samples reference clean
.DEFAULT_GOAL := help

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile

demo: $(READY) ## run the main job on the sample documents, into ./demo
	@$(BIN)/chunkprep demo

test: lint types tests ## everything that has to pass: style, layers, types, tests

setup: $(READY) ## make .venv with everything pinned in requirements.lock

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(READY)
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python  # not the one that happens to be on the PATH

tests: $(READY)
	$(BIN)/pytest

torture: $(READY) ## kill, crowd and audit the store on both databases; prints what held
	$(BIN)/python benchmarks/torture.py

bench-split: $(PEERS) ## time splitting and pricing beside a bare pass and the public splitters
	$(BIN)/python benchmarks/bench_split.py

eval-split: $(PEERS) ## measure how well splitters keep answers whole
	$(BIN)/python benchmarks/eval_split.py

bench-pack: $(READY) ## time packing beside the bare driver's lookup, on both databases
	$(BIN)/python benchmarks/bench_pack.py

bench-ingest: $(READY) ## time whole ingests beside the reader and a bare pass
	$(BIN)/python benchmarks/bench_ingest.py

bench: $(PEERS) ## run every benchmark and write benchmarks/RESULTS.md; under 20 minutes on two cores
	$(BIN)/python -m benchmarks.run_all

bench-full: $(PEERS) ## the same with 1,000,000 rows; takes a while
	$(BIN)/python -m benchmarks.run_all --full

compare: $(PEERS) ## run what docs/why.md says of us and of the public splitters and frameworks
	$(BIN)/python -m benchmarks.compare_peers

fuzz: $(READY) ## split 2,000 nasty documents at four caps in two encodings; prints what broke
	$(BIN)/python benchmarks/fuzz_split.py

bench-serve: $(READY) ## load the HTTP service beside a constant answer and beside ingestion; needs wrk
	@command -v wrk >/dev/null || { echo "make: wrk, the load generator, is missing; apt-get install wrk" >&2; exit 2; }
	$(BIN)/python benchmarks/bench_serve.py

fuzz-serve: $(READY) ## attack the HTTP service from its own OpenAPI document
	$(BIN)/python benchmarks/fuzz_serve.py

samples: $(READY) ## make the binary sample documents again
	$(BIN)/python benchmarks/make_samples.py samples

reference: $(READY) ## make docs/reference/ again from the code
	$(BIN)/python -m docs.generate

clean: ## remove .venv, caches and the demo's folder
	rm -rf $(VENV) demo dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

# A name on the PATH may be a shim for a Python that is not there: only running it tells.
$(READY): requirements.lock pyproject.toml
	@python=; for each in python3.13 python3.12 python3.11 python3 python; do \
	  if $$each -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then python=$$each; break; fi; \
	done; \
	if [ -z "$$python" ]; then echo "make: no Python 3.11 or newer found; install one and run make again" >&2; exit 2; fi; \
	if [ ! -x $(BIN)/python ]; then echo "making $(VENV) with $$python" >&2; $$python -m venv --clear $(VENV); fi
	@echo "installing what requirements.lock pins (once; some minutes)" >&2
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(READY)

$(PEERS): $(READY) benchmarks/requirements.lock
	@echo "installing the public splitters that ours is measured beside" >&2
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r benchmarks/requirements.lock
	@touch $(PEERS)
