# Every target sets up what it needs: a machine with Python 3.11 or newer and make is enough.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

export UV_SYSTEM_CERTS := 1
export UV_NO_PROGRESS := 1

.DEFAULT_GOAL := help

.PHONY: help
help:  ## List the targets.
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  %-12s %s\n", $$1, $$2}'

$(STAMP): pyproject.toml requirements-dev.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Leeway needs Python 3.11 or newer; set PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip sync --quiet --python $(BIN)/python --require-hashes requirements-dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

.PHONY: install
install: $(STAMP)  ## Make .venv with the leeway command and the development tools.

.PHONY: run
run: $(STAMP)  ## Serve the bundled example cluster on 127.0.0.1:8888.
	@echo 'Serving the example cluster of deploy/examples/cluster.yaml. In another terminal, try:'
	@echo
	@echo '  curl -s -d @deploy/examples/filter-batch.json http://127.0.0.1:8888/filter | $(PYTHON) -m json.tool'
	@echo "  curl -s 'http://127.0.0.1:8080/readyz?verbose'"
	@echo '  $(BIN)/leeway explain deploy/examples/pending-pod.yaml --cluster deploy/examples/cluster.yaml'
	@echo
	@exec $(BIN)/leeway serve --cluster deploy/examples/cluster.yaml

.PHONY: test
test: $(STAMP)  ## Run the tests.
	$(BIN)/pytest -n 2

.PHONY: cov
cov: $(STAMP)  ## Run the tests with branch coverage and its gates.
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -p no:randomly -n 2
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report
	$(BIN)/coverage report --fail-under=100 --include='extender/model/*,extender/match/*,extender/framework/*,extender/plugins/*,extender/wire*' > /dev/null || { $(BIN)/coverage report --include='extender/model/*,extender/match/*,extender/framework/*,extender/plugins/*,extender/wire*'; echo 'The pure rooms and the wire must be covered wholly.' >&2; exit 1; }

.PHONY: cel-parity
cel-parity: $(STAMP)  ## Compare CEL with what the real Kubernetes code answered, question by question.
	$(BIN)/python -m tests.match.cel.parity

.PHONY: lint
lint: $(STAMP)  ## Check format and lint; edits nothing.
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/codespell
	$(BIN)/validate-pyproject pyproject.toml
	$(BIN)/shellcheck .ci/run deploy/image/build deploy/image/engineless
	$(BIN)/hadolint Dockerfile

.PHONY: types
types: $(STAMP)  ## Check the types of the program and of its tests.
	$(BIN)/mypy

.PHONY: arch
arch: $(STAMP)  ## Check who may import whom, the size of files and that the documentation is complete.
	$(BIN)/lint-imports --no-logo
	$(BIN)/pytest -q tests/test_architecture.py tests/test_docs.py

.PHONY: check
check: lint types arch cov  ## Everything that can be checked without running a cluster.

.PHONY: fmt
fmt: $(STAMP)  ## Format and mend what can be mended; edits files.
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

.PHONY: hooks
hooks: $(STAMP)  ## Install the git hooks.
	$(BIN)/pre-commit install

COMPILE := $(BIN)/uv pip compile --upgrade --generate-hashes --universal --no-emit-index-url --no-emit-find-links --no-header --no-annotate --quiet

.PHONY: lock
lock: $(STAMP)  ## Resolve the dependencies anew and write the lock files; edits files.
	$(COMPILE) pyproject.toml --group dev -o requirements-dev.lock
	$(COMPILE) pyproject.toml -o requirements.lock
	$(COMPILE) --group bench --constraint requirements-dev.lock -o requirements-bench.lock
	$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' | $(COMPILE) --python-version 3.11 - -o deploy/image/build-system.lock

.PHONY: image
image: $(STAMP)  ## Build the container image and prove that it answers as a non-root user with a read-only root.
	deploy/image/build

PLOTS := $(VENV)/.plots

$(PLOTS): $(STAMP) requirements-bench.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements-bench.lock
	@touch $@

.PHONY: bench
bench: $(PLOTS)  ## Measure beside floors that return canned answers, in one run; edits bench/results.
	$(BIN)/python -m bench

.PHONY: bench-check
bench-check: $(STAMP)  ## Fail when a case is clearly worse than in bench/results.
	$(BIN)/python -m bench --check

.PHONY: bench-scheduler
bench-scheduler: $(STAMP)  ## Pods a second of a real kube-scheduler with Leeway and with floors; edits bench/results.
	$(BIN)/python -m bench.scheduler_throughput

MINUTES ?= 20

.PHONY: bench-memory
bench-memory: $(STAMP)  ## Adversarial legal traffic for MINUTES=20: memory must stay flat; edits bench/results.
	$(BIN)/python -m bench.adversary --minutes $(MINUTES)

.PHONY: e2e
e2e: $(STAMP)  ## Tell the stories to a real control plane on loopback; KUBERNETES=v1.34.4 picks another version.
	$(BIN)/pytest tests/e2e -n 2 --dist loadfile --timeout 240 --durations 10

.PHONY: golden
golden: $(STAMP)  ## Capture anew what a real kube-scheduler sends, into tests/golden/captured; edits files.
	$(BIN)/python -m tests.e2e.capture

.PHONY: clean
clean:  ## Remove caches and build output.
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache .coverage .coverage.*
