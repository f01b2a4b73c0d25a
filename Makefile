# Every target sets up what it needs. The machine needs Python 3.11 or newer, and make.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

export UV_SYSTEM_CERTS := 1
export UV_NO_PROGRESS := 1

.DEFAULT_GOAL := help

.PHONY: help
help:  ## List the targets.
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  %-15s %s\n", $$1, $$2}'

TOOLS  := $(VENV)/.tools
NATIVE := $(wildcard extender/rows/native/*)

$(TOOLS): requirements-dev.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Leeway needs Python 3.11 or newer; set PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip sync --quiet --python $(BIN)/python --require-hashes requirements-dev.lock
	@touch $@

# Again when the C changed: an editable install does not compile it by itself.
$(STAMP): $(TOOLS) pyproject.toml setup.py $(NATIVE)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

.PHONY: install
install: $(STAMP)  ## Create .venv with the leeway command and the development tools.

.PHONY: run
run: $(STAMP)  ## Serve the example cluster on 127.0.0.1:8888.
	@echo 'Serving the example cluster of deploy/examples/cluster.yaml. In another terminal, try:'
	@echo
	@echo '  curl -s -d @deploy/examples/filter-batch.json http://127.0.0.1:8888/filter | $(PYTHON) -m json.tool'
	@echo "  curl -s 'http://127.0.0.1:8080/readyz?verbose'"
	@echo '  $(BIN)/leeway explain deploy/examples/pending-pod.yaml --cluster deploy/examples/cluster.yaml'
	@echo
	@exec $(BIN)/leeway serve --cluster deploy/examples/cluster.yaml --refusals always

.PHONY: test
test: $(STAMP)  ## Run the tests.
	$(BIN)/pytest -n 2

.PHONY: cov
cov: $(STAMP)  ## Run the tests, and fail below the required branch coverage.
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -p no:randomly -n 2
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report
	$(BIN)/coverage report --fail-under=100 --include='extender/model/*,extender/match/*,extender/framework/*,extender/plugins/*,extender/native/*,extender/rows/*,extender/wire/*,extender/verbs/*' > /dev/null || { $(BIN)/coverage report --include='extender/model/*,extender/match/*,extender/framework/*,extender/plugins/*,extender/native/*,extender/rows/*,extender/wire/*,extender/verbs/*'; echo 'The pure rooms and the wire need 100 % coverage.' >&2; exit 1; }

.PHONY: cel-parity
cel-parity: $(STAMP)  ## Compare the CEL engine with answers of the real Kubernetes code.
	$(BIN)/python -m tests.match.cel.parity

.PHONY: lint
lint: $(STAMP)  ## Check format, lint and spelling; edits nothing.
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/codespell
	$(BIN)/validate-pyproject pyproject.toml
	$(BIN)/shellcheck .ci/run deploy/image/build deploy/image/engineless deploy/wheels/build
	$(BIN)/hadolint Dockerfile

.PHONY: types
types: $(STAMP)  ## Check types, also of the tests.
	$(BIN)/mypy

.PHONY: arch
arch: $(STAMP)  ## Check imports between rooms, file sizes and the documentation.
	$(BIN)/lint-imports --no-logo
	$(BIN)/pytest -q tests/test_architecture.py tests/test_docs.py

.PHONY: check
check: lint types arch cov  ## Run all checks that need no cluster.

.PHONY: fmt
fmt: $(STAMP)  ## Format the code and apply lint fixes; edits files.
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

.PHONY: hooks
hooks: $(STAMP)  ## Install the git hooks.
	$(BIN)/pre-commit install --hook-type pre-commit --hook-type commit-msg

COMPILE := $(BIN)/uv pip compile --upgrade --generate-hashes --universal --no-emit-index-url --no-emit-find-links --no-header --no-annotate --quiet

.PHONY: lock
lock: $(STAMP)  ## Resolve the dependencies again and write the lock files; edits files.
	$(COMPILE) pyproject.toml --group dev -o requirements-dev.lock
	$(COMPILE) pyproject.toml -o requirements.lock
	$(COMPILE) --group bench --constraint requirements-dev.lock -o requirements-bench.lock
	$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' | $(COMPILE) --python-version 3.11 - -o deploy/image/build-system.lock
	$(COMPILE) --group wheels --constraint deploy/image/build-system.lock -o deploy/wheels/tools.lock

.PHONY: image
image: $(STAMP)  ## Build the container image, and test it as a non-root user with a read-only root.
	deploy/image/build

.PHONY: wheels
wheels:  ## Build the source archive and wheels for x86_64 and aarch64, into dist.
	PYTHON=$(PYTHON) deploy/wheels/build

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

.PHONY: bench-nudges
bench-nudges: $(STAMP)  ## What 500 waiting pods cost in a storm of changes, with a real kube-scheduler; edits bench/results.
	$(BIN)/python -m bench.bench_nudges

.PHONY: bench-controller
bench-controller: $(STAMP)  ## What compile mode costs, with the default kube-scheduler and a large cluster; edits bench/results.
	$(BIN)/python -m bench.bench_controller

.PHONY: bench-memory
bench-memory: $(STAMP)  ## Adversarial legal traffic for MINUTES=20: memory must stay flat; edits bench/results.
	$(BIN)/python -m bench.adversary --minutes $(or $(MINUTES),20)

SANITIZED := build/sanitized/_native.abi3.so
LATEST    := build/sanitized/latest.json

$(SANITIZED): $(NATIVE)
	@mkdir -p $(@D)
	$(CC) -shared -fPIC -g -O1 -std=c11 -Wall -Wextra -Werror -Wno-cast-function-type -fno-omit-frame-pointer \
	  -fsanitize=address,undefined -fno-sanitize-recover=all $$($(PYTHON) -c 'import sysconfig; print("-I" + sysconfig.get_path("include"))') \
	  $(filter %.c,$(NATIVE)) -o $@

# Python itself is not built with the sanitizer: it must be loaded first, and Python's own leaks at
# exit are none of our business. malloc instead of Python's pools, so that it sees each allocation.
.PHONY: fuzz
fuzz: $(STAMP) $(SANITIZED)  ## Compare the rows in C and in Python under sanitizers, for MINUTES=1 minutes.
	@rm -f $(LATEST)
	ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc LD_PRELOAD=$$($(CC) -print-file-name=libasan.so) \
	  $(BIN)/python -m tests.fuzz.rows --native $(SANITIZED) --latest $(LATEST) --minutes $(or $(MINUTES),1) \
	  || { [ ! -e $(LATEST) ] || mv $(LATEST) tests/fuzz/corpus/rows/found-$$(date +%s).json; exit 1; }

.PHONY: e2e
e2e: $(STAMP)  ## Run the KEPs' user stories on a real control plane; KUBERNETES=v1.34.4 picks a version.
	$(BIN)/pytest tests/e2e -n 2 --dist loadfile --timeout 240 --durations 10

.PHONY: golden
golden: $(STAMP)  ## Record again what a real kube-scheduler sends; edits tests/golden/captured.
	$(BIN)/python -m tests.e2e.capture

.PHONY: clean
clean:  ## Remove caches and build output.
	rm -rf $(VENV) build dist *.egg-info extender/rows/*.so .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache .coverage .coverage.*
