# Two commands: `make demo` shows what trajlab does, `make test` checks that it does it right.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: help demo test check lint types suite compiled browser spark spark-quick pyspark wheel docs gallery site bench soak examples clean

help:
	@echo "make demo    simulate a city, publish its counts, write demo/report.html"
	@echo "make test    lint, types, tests, docs examples, and the built wheel"
	@echo "make docs    write the generated pages of docs/ again"
	@echo "make gallery  run the studies of docs/gallery again, and write their page and pictures"
	@echo "make site    write the documentation as a site to build/site"
	@echo "make bench   measure speed and memory (several minutes)"
	@echo "make examples  look for counterexamples that nobody has seen, and for longer than make test does"
	@echo "make spark   install pyspark and run the tests that start a Spark cluster here (needs Java)"
	@echo "make soak    kill, fill the disk, give bad words and files (SECONDS=600, SEED=0)"

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "trajlab needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[test]"
	@touch $(READY)

demo: $(READY)
	$(BIN)/trajlab demo demo

# Two jobs at a time: while loops are compiled on one core, lint and types are checked on the other.
test: $(READY)
	$(MAKE) --jobs=2 suite lint types wheel

check: lint types suite

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

suite: compiled
	$(BIN)/pytest -n 2 --dist worksteal

compiled: $(READY)
	$(BIN)/python -m tests.compile_loops

# What people look at, in Chromium: part of check where there is one, and by itself here, where there must be.
browser: $(READY)
	TRAJLAB_BROWSER=required $(BIN)/pytest -n 2 --dist worksteal tests/test_browser.py

# On a real cluster: a master and two workers on this machine. Needs Java; part of check where the extra is installed.
spark: pyspark
	$(ON_SPARK) tests/test_spark.py

ON_SPARK = TRAJLAB_SPARK=required $(BIN)/pytest -p no:xdist -m spark

# Seven shards and a mistake, without the tests that kill: about a minute.
spark-quick: pyspark
	$(ON_SPARK) tests/test_spark.py -k "engine and 7 or mistake"

pyspark: $(READY)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[test,spark]"

# The wheel must carry its SQL files and its font, and work outside the source tree.
wheel: $(READY)
	rm -rf build/wheel
	$(BIN)/python -m build --wheel --no-isolation --outdir build/wheel . > /dev/null
	$(PYTHON) -m venv build/wheel/venv
	build/wheel/venv/bin/python -m pip install --quiet --no-compile --constraint constraints.txt "$$(ls build/wheel/*.whl)[png]"
	cd build/wheel && venv/bin/trajlab demo small --people 40 --days 2 && venv/bin/trajlab sql small/lab.duckdb "select count(*) as releases from report.summary"
	cd build/wheel && venv/bin/trajlab figure small/lab.duckdb xu2017-fig8a -o fig8a.png

docs: $(READY)
	$(BIN)/python -m docs.generate

# Studies of real data are run where TRAJLAB_DATA names its folder, and stay as they are elsewhere.
gallery: $(READY)
	$(BIN)/python -m docs.gallery

site: $(READY)
	$(BIN)/python -m docs.site build/site

bench: $(READY)
	$(BIN)/python -m bench

SECONDS ?= 600
SEED ?= 0
soak: $(READY)
	$(BIN)/python -m soak --seconds $(SECONDS) --seed $(SEED)

# Every property again, on new examples and on more of them.
examples: $(READY)
	TRAJLAB_NEW_EXAMPLES=1 $(BIN)/pytest -n 2 --dist worksteal -m hypothesis

clean:
	rm -rf .venv build dist demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
