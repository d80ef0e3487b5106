# SPDX-License-Identifier: BSD-3-Clause
# A thin front to CMake and scripts/: `make demo` and `make test` need nothing else to be done first.
BUILD ?= build
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX ?= /usr/local
CMAKE_ARGS ?=
# Some shells leave a ~ to make.
override BUILD := $(BUILD:~/%=$(HOME)/%)
override PREFIX := $(PREFIX:~/%=$(HOME)/%)
PART ?=

# STUDY=quick: fewer rounds and figures, at most 6 minutes. STUDY=docs: those of study/figures, at most
# 45, and then the figures. PART: these parts only.
STUDY ?=
REPORT = $(BUILD)/study

.PHONY: all help deps configure build demo check python test test-all test-net bench book study figures install uninstall packages release clean format tidy
all: build

help:
	@echo "make demo              build library and command, run NAS FT class W on 4 ranks and a short benchmark"
	@echo "make check             before each commit: build, lint, unit tests, conformance once; about a minute"
	@echo "make test              before a merge, and what CI runs; 20 minutes on 2 cores"
	@echo "make test-all          each night: every test in every setting; hours. PART=2/8: part 2 of 8"
	@echo "make test-net          everything on several hosts, in network namespaces (as root); an hour"
	@echo "make build             $(BUILD)/bin/tombolo, $(BUILD)/lib, $(BUILD)/bench, $(BUILD)/examples"
	@echo "make python            the Python wheel, in $(BUILD)/wheels, and the tests of the binding"
	@echo "make bench             the full set of measurements"
	@echo "make book              the Book and all pages of docs as a site, $(BUILD)/book/index.html"
	@echo "make study             everything beside its baselines and peers, as $(REPORT)/report.html; an hour"
	@echo "                       STUDY=quick: 6 minutes; STUDY=docs: 45, and study/figures from it"
	@echo "make cells             figures that were once slower than a peer, with their targets; at most 5 minutes"
	@echo "make figures           study/figures and study/FIGURES.md again, from the JSON kept there"
	@echo "make install PREFIX=/usr/local [CC=clang CXX=clang++]   CC, CXX: the compilers of clients;"
	@echo "                       CAF_ALIASES=1: also caf and cafrun, for tombolo fc and tombolo run"
	@echo "make uninstall PREFIX=/usr/local   removes what make install has put there, and nothing else"
	@echo "make packages          Debian packages of lib, dev, tools, fortran, upc, shmem and doc, in $(BUILD)/packages"
	@echo "make release           notes, tarball, checksums, bill of materials and the tag; DRY=1: no tag"
	@echo "make deps              install the Debian packages that are missing; TESTS=1: also those of the tests,"
	@echo "                       STUDY=1: also what the study compares with"
	@echo "make update            everything that is generated from the sources and kept, after a change"
	@echo "make format            run clang-format on the sources;  make tidy: check the house rules"
	@echo "make clean             remove the build trees"

deps:
	@TESTS=$(filter 1,$(TESTS)) STUDY=$(filter 1,$(STUDY)) bash scripts/install_deps.sh

.PHONY: test-deps
test-deps:
	@TESTS=1 bash scripts/install_deps.sh

configure:
	@command -v cmake >/dev/null && command -v ninja >/dev/null || \
	  { echo "make: no cmake or ninja here: 'make deps' installs what is missing, or names it" >&2; exit 1; }
	@cmake -S . -B "$(BUILD)" -G Ninja -DCMAKE_INSTALL_PREFIX="$(PREFIX)" $(CMAKE_ARGS) >"$(BUILD).log" 2>&1 \
	  || { cat "$(BUILD).log"; rm -f "$(BUILD).log"; exit 1; }
	@rm -f "$(BUILD).log"

build: configure
	@cmake --build "$(BUILD)" --target programs -j $(JOBS)

.PHONY: installed
installed: configure
	@cmake --build "$(BUILD)" --target installed -j $(JOBS)

# Without FFTW there is no bench/ft.
demo: deps
	@$(MAKE) --no-print-directory configure
	@cmake --build "$(BUILD)" --target demo -j $(JOBS)
	@if [ -x "$(BUILD)/bench/ft" ]; then set -x; "$(BUILD)/bin/tombolo" run -n 4 "$(BUILD)/bench/ft" --class W --schedule all; \
	  else echo "make demo: without NAS FT (package libfftw3-dev)"; fi
	"$(BUILD)/bin/tombolo" bench --quick
	@echo
	@echo "Tombolo runs here. ft prints VERIFIED for each schedule; docs/BENCHMARKS.md explains the table."
	@echo "Next, a program of your own:"
	@echo "    export PATH=\"$$(cd "$(BUILD)" && pwd)/bin:\$$PATH\""
	@echo "    tombolo cc examples/neighbour.c -o neighbour"
	@echo "    tombolo run -n 4 ./neighbour"
	@echo "docs/book/start.md reads it line by line. make install PREFIX=...: all languages; make help: the rest."

check: test-deps
	@python3 scripts/run_tests.py --check

test: test-deps
	@python3 scripts/run_tests.py

# PART=K/N: part K of N parts, each about as long.
test-all: test-deps
	@python3 scripts/run_tests.py --all $(if $(PART),--part $(PART))

test-net: test-deps
	@python3 scripts/run_tests.py --net

# The wheel, in $(BUILD)/wheels, and the tests of the binding.
python: build
	@cmake --build "$(BUILD)" --target wheel_files -j $(JOBS)
	ctest --test-dir "$(BUILD)" -L '^python$$' -LE '^nightly$$' --output-on-failure
	@python3 packaging/wheels.py --out "$(BUILD)/wheels"

bench: build
	"$(BUILD)/bin/tombolo" bench

# Needs mkdocs-material from a registry of Python packages, in $(BUILD)/book-venv; skipped without.
book:
	@python3 scripts/book.py site --out "$(BUILD)/book" --venv "$(BUILD)/book-venv" --lenient

# Matplotlib and peers are installed where that is possible; what is missing the report names.
study: build
	@cmake --build "$(BUILD)" --target study -j $(JOBS)
	@STUDY=1 bash scripts/install_deps.sh || echo "make study: goes on without what is missing"
	@python3 study/study.py --build "$(BUILD)" --out "$(REPORT)" $(if $(filter quick docs,$(STUDY)),--$(STUDY)) $(PART)
	$(if $(filter docs,$(STUDY)),@python3 study/figures.py --adopt "$(REPORT)")

# Figures for which a peer was faster once; less than 5 minutes. CELLS: these groups only. ADOPT=1: also
# study/data/cells.json and its table in study/RESULTS.md.
.PHONY: cells
cells: build
	@mkdir -p "$(REPORT)"
	@python3 study/compare/cells.py --build "$(BUILD)" --json "$(REPORT)/cells.json" $(CELLS)
	$(if $(ADOPT),@python3 study/compare/cells.py --adopt "$(REPORT)/cells.json")

# What study/ shows of a run: figures, its targets, the cells. FROM: the folder of the run.
.PHONY: adopt
FROM ?= $(REPORT)
adopt:
	@python3 study/figures.py --adopt "$(FROM)"
	$(if $(wildcard $(FROM)/cells.json),@python3 study/compare/cells.py --adopt "$(FROM)/cells.json")

# study/figures/*.svg and study/FIGURES.md from the JSON in study/data, which is that of the
# last `make study STUDY=docs`.
figures:
	@python3 study/figures.py

# CC and CXX, where given, are recorded in the make fragments and pkg-config files of clients.
given = $(if $(filter command% environment%,$(origin $(1))),$($(1)))
install: installed
	umask 022; CAF_ALIASES="$(CAF_ALIASES)" SMA_ALIASES="$(SMA_ALIASES)" GASNET_CC="$(or $(GASNET_CC),$(call given,CC))" GASNET_CXX="$(or $(GASNET_CXX),$(call given,CXX))" \
	  cmake --install "$(BUILD)" --prefix "$(PREFIX)"

# The prefix of packages is /usr. What is not built (as Fortran without gfortran) has no package, and is
# named; TESTS=1 installs what all of them need.
packages: deps
	@$(MAKE) --no-print-directory installed
	@umask 022; cd "$(BUILD)" && cpack -G DEB -B packages >packages.log || { cat packages.log; exit 1; }
	@ls -l "$(BUILD)"/packages/*.deb
	@for part in tombolo-fortran:gfortran tombolo-mpi:libopenmpi-dev tombolo-sim:libsimgrid-dev \
	    "python3-tombolo:python3-dev and python3-numpy"; do \
	  ls "$(BUILD)/packages/$${part%%:*}"_*.deb >/dev/null 2>&1 || \
	    echo "make packages: without $${part%%:*}: it needs $${part#*:}"; \
	done
	@command -v clang >/dev/null || echo "make packages: without manual pages of functions: they need clang"

# Of the version in CMakeLists.txt and this commit.
release:
	@python3 scripts/release.py --build $(if $(DRY),--dry-run)

# By the list of files in the prefix; needs no build tree.
uninstall:
	@cmake -DPREFIX="$(PREFIX)" -P cmake/install/uninstall.cmake

format:
	@python3 scripts/check_format.py --fix

tidy:
	@python3 scripts/tidy.py

# What is generated from the sources and kept: messages, settings, manual pages, pictures,
# listings and pages of figures. The stage lint refuses what is not as these write it.
.PHONY: update
update:
	@python3 scripts/messages.py --write
	@$(MAKE) --no-print-directory build
	@"$(BUILD)/bin/tombolo" info --config --markdown >docs/SETTINGS.md
	@python3 scripts/man.py "$(BUILD)/bin/tombolo" --write
	@python3 scripts/picture.py --write
	@python3 scripts/book.py listings
	@python3 scripts/gen_am_numbered.py --write
	@python3 scripts/check_format.py --fix

clean:
	rm -rf build build-asan build-tsan build-preempt build-coverage build-release build-seeds

# The simulator beside real runs on eight emulated hosts, as root on an idle machine; 8 minutes.
.PHONY: sim-check
sim-check: build
	@cmake --build "$(BUILD)" --target net_wire -j $(JOBS)
	@python3 study/compare/sim_real.py --build "$(BUILD)"

# The figures of the simulation, from study/data/sim-*.json; a part of `make figures`.
.PHONY: figures figures-sim
figures: figures-sim
figures-sim:
	@python3 study/sim_figures.py
