# The commands of this project. They write to .venv, node_modules, core/target and dist in this folder; only
# `make test` also installs programs on the machine, if some that the tests run are missing.
PYTHON ?= python3
WORKERS ?= auto
FUZZ_SECONDS ?= 60
BIN = .venv/bin
PYTEST = $(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal

# Everything the native core is built from. Folders are listed too: they change when a file is removed.
CORE = $(shell find core/src) core/build.rs core/Cargo.toml core/Cargo.lock src/chaffinch/folding.txt

# A build of the core that stops where the release build would read a wrong number, and the tests that also run on it.
CHECKED = core/target/checked
CORE_TESTS = tests/test_core_*.py tests/test_native_*.py tests/test_*_core.py tests/test_segments.py tests/test_rare.py

.PHONY: help setup check programs quick test fuzz bench docs wheel clean

help: ## List these commands
	@sed -n 's/^\([a-z]*\):.* ## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10

setup: .venv/built ## Create .venv with the package, its native core and the development tools

check: .venv/built ## Run every linter and type checker: ruff, mypy, rustfmt, clippy, tsc
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	cd core && cargo fmt --check
	cd core && cargo clippy --quiet --all-targets -- --deny warnings

quick: .venv/built ## Run the tests that are fast and need no other program, in under two minutes
	cd core && cargo test --quiet
	$(PYTEST) -m 'not (browser or postgres or ghostscript or sevenzip or antiword or catdoc or tesseract or node or slow)'

test: .venv/built $(CHECKED)/built programs ## Install the programs that are missing, then run every test; none may be skipped
	cd core && cargo test --quiet
	$(PYTEST) --fail-on-skip
	CHAFFINCH_CORE=$(CHECKED) $(PYTEST) --fail-on-skip -m 'not postgres' $(CORE_TESTS)

programs: ## Install the programs that tests run: Chromium, PostgreSQL, Ghostscript and others
	@$(PYTHON) tools/programs.py

fuzz: .venv/built ## Feed damaged samples to each reader, and damage an index, for FUZZ_SECONDS seconds each
	$(BIN)/python tools/fuzz.py --seconds $(FUZZ_SECONDS)

bench: .venv/built ## Measure everything and write bench/results
	$(BIN)/python -m bench

docs: .venv/built ## Write docs/commands.md from the command line's own help
	$(BIN)/python tools/make_docs.py

wheel: .venv/built ## Build wheels for Linux and the source package into dist, and try them
	$(BIN)/python tools/wheels.py

clean: ## Remove everything that these commands wrote
	rm -rf .venv node_modules dist core/target src/chaffinch/_native

# Where Python comes without ensurepip (Debian without python3-venv), its own pip fills the environment.
.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv >/dev/null || { $(PYTHON) -m venv --clear --without-pip .venv \
		&& $(PYTHON) -m pip --quiet --python $(BIN)/python install pip; }
	$(BIN)/pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/pip install --quiet --group dev
	touch $@

.venv/built: .venv/installed $(CORE)
	VIRTUAL_ENV=$(CURDIR)/.venv $(BIN)/maturin develop --release --quiet >/dev/null
	touch $@

$(CHECKED)/built: $(CORE)
	cd core && cargo build --quiet --lib --profile checked --target-dir target
	touch $@

node_modules/.bin/tsc: package.json
	npm install --no-package-lock --no-audit --no-fund --silent
	touch $@

ifneq ($(wildcard tsconfig.json),)
check: check-javascript
.PHONY: check-javascript
check-javascript: node_modules/.bin/tsc
	node_modules/.bin/tsc
endif
