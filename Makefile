# `make` alone explains itself. Everything works on a fresh Debian 12 or 13 with a Swift toolchain, which
# `make elsewhere` shows before each release; `make deps` fetches the system packages.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

SOURCES := Sources Tests Package.swift

# The programs that $(1) names, as releases, with the options of $(2). Not all targets: what only tests need does not
# build as a release.
release = for program in $(1); do swift build -c release $(2) --product $$program 2>&1 | scripts/progress; done

# What is installed. The benchmark and the fault matrix stay with the sources.
INSTALLED := pushpool pushpool-server pushpool-simulator pushpool-demo

# As the GNU standards spell it: `make install prefix=/usr`. One in the environment may be another program's.
ifeq ($(origin prefix),command line)
PREFIX ?= $(prefix)
export PREFIX
endif

.PHONY: help deps build release install install-strip uninstall sbom test lint format demo dashboard examples \
  page-tests api-tests deploy-tests bench instructions chaos elsewhere clean

help: ## List these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## Install the system packages that are missing, and check the Swift toolchain
	@scripts/deps

build: deps ## Build the release programs into .build/release
	@$(call release,$(INSTALLED) pushpool-bench pushpool-chaos)

release: ## Build the programs that are installed, with the Swift runtime in them
	@$(call release,$(INSTALLED),--static-swift-stdlib)

install: ## Install what `make release` has built: PREFIX, DESTDIR and others as in packages (scripts/install)
	@scripts/install

install-strip: ## The same, without the programs' symbols
	@scripts/install --strip

uninstall: ## Remove what was installed with the same variables
	@scripts/install --uninstall

sbom: ## Write the bill of materials of the programs: .build/pushpool.cdx.json
	@mkdir -p .build
	@scripts/sbom $(or $(PROGRAMS),.build/release) >.build/pushpool.cdx.part
	@mv .build/pushpool.cdx.part .build/pushpool.cdx.json

test: deps ## Build and run all tests, against a real redis-server
	@/usr/bin/python3 -c 'import redis' 2>/dev/null || scripts/deps python3-redis || \
		echo 'redis-py is missing: the guides'"'"' Python is not run' >&2
	@swift build --build-tests 2>&1 | scripts/progress
	@scripts/run-tests

lint: ## Check format and house rules; changes nothing
	@swift format lint --strict -r $(SOURCES)
	@scripts/tidy

format: ## Format the sources in place
	@swift format -i -r $(SOURCES)

demo: deps ## A campaign from Redis to simulated push networks, on this machine
	@$(call release,pushpool pushpool-demo pushpool-simulator)
	@.build/release/pushpool demo

dashboard: deps ## The page of a fleet with a campaign that runs, on this machine, until Ctrl-C
	@$(call release,pushpool pushpool-server pushpool-simulator)
	@scripts/dashboard

api-tests: deps ## Try the server from outside: its own document, hidden requests, proxies, faults
	@$(call release,pushpool pushpool-server pushpool-simulator)
	@PUSHPOOL=.build/release scripts/api-tests $(PARTS)

deploy-tests: ## Try what installs and deploys: files, manifests, an image without an engine; PARTS=image is one
	@scripts/deploy-tests $(PARTS)

examples: deps ## Run the examples whose language and Redis client are here
	@$(call release,pushpool pushpool-demo pushpool-simulator)
	@examples/run

page-tests: deps ## Try the dashboard in a browser; PICTURES=1 also draws docs/dashboard/
	@$(call release,pushpool pushpool-demo pushpool-simulator pushpool-server)
	@scripts/page-tests $(TESTS)

bench: deps ## Measure each figure beside its yardstick; BENCH='--only apns --runs 5' are options
	@$(call release,pushpool pushpool-simulator pushpool-bench)
	@.build/release/pushpool-bench $(BENCH)

instructions: deps ## Count a push's instructions under valgrind; fails when they grew by 5 %
	@scripts/instructions

chaos: deps ## Bring the faults of the fault matrix about, and count what is lost or sent twice
	@$(call release,pushpool pushpool-simulator pushpool-chaos clockshift) # clockshift: clocks that are wrong, for rows 18 and 31
	@swift build --product pushpool 2>&1 | scripts/progress # its crash points, for row 2
	@.build/release/pushpool-chaos $(CHAOS)

elsewhere: ## Build and test HEAD in a clean root of another release, as root; ELSEWHERE=trixie names it
	@scripts/elsewhere $(or $(ELSEWHERE),trixie)

clean: ## Remove everything that was built
	@swift package clean
	@rm -rf .build
