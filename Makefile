# The commands of this project. Everything happens in .venv; nothing outside the folder is touched.
PYTHON ?= python3
FUZZ_SECONDS ?= 60
BIN = .venv/bin

.PHONY: setup check test fuzz bench docs clean

# An environment with the package (its native core built from source) and the development tools.
setup: .venv/built

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/pip install --quiet --group dev
	touch $@

core = $(wildcard core/src/*.rs core/src/*/*.rs) core/Cargo.toml src/chaffinch/folding.txt core/src/read/entities.txt

.venv/built: .venv/installed $(core)
	VIRTUAL_ENV=$(CURDIR)/.venv $(BIN)/maturin develop --release --quiet >/dev/null
	touch $@

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	cd core && cargo fmt --check
	cd core && cargo clippy --quiet --all-targets -- --deny warnings

test: .venv/built
	cd core && cargo test --quiet
	$(BIN)/python -m pytest

# The readers on changed samples, each for so many seconds; what breaks one is kept.
fuzz: .venv/built
	$(BIN)/python tools/fuzz.py --seconds $(FUZZ_SECONDS)

bench: .venv/built
	$(BIN)/python -m bench

docs: .venv/built
	$(BIN)/python tools/make_docs.py

clean:
	rm -rf .venv core/target src/chaffinch/_native
