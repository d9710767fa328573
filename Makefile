# SPDX-License-Identifier: GPL-2.0-only
#
# Front door: each target is one command of the lab; see README.md.

LAB := tools/lab/lab
PYTHON := /usr/bin/python3

# Builds take place below build/; LAB_BUILD names another directory.
export LAB_BUILD
# BASE=NAME, for each target: the kernel that the series is applied to, of those of 'make list';
# for 'make series', also the directory of any other one.
ifdef BASE
LAB += --base $(BASE)
endif

.PHONY: help run check check-host check-all test coverage fuzz build menuconfig series dist qemu-series shell list bench bench-lab kit deb clean distclean python

help:
	@echo 'make run               trace a program with Intel PT and show its calls'
	@echo "make run CMD='COMMAND' trace that command instead"
	@echo 'make check             build what is missing and run each kind of test'
	@echo 'make check-host        build nothing, and run the tests that need nothing built: minutes'
	@echo 'make check-all         the same with each size, seed and set: takes hours, can be stopped'
	@echo "make test T='PATTERN'  run the tests whose names match"
	@echo "make coverage          run all tests (or T='PATTERN'), count the lines of the series they run"
	@echo 'make fuzz              fuzz AUX areas for ten minutes (TIME=SECONDS), on the debug kernel'
	@echo 'make build             fetch and build kernel, perf and QEMU, no more'
	@echo "make menuconfig        choose the kernel's options; 'make build' builds with them"
	@echo 'make series            write the series as patches for git am'
	@echo "make series BASE=NAME  the same for another kernel ('make list'); BASE goes with all targets"
	@echo "make series BASE=/PATH say which fixes fit any kernel's source, and write these"
	@echo "make series FROM='NAME <ADDRESS>' with From and Signed-off-by of who sends them"
	@echo 'make dist              pack the series for all bases, each part and whole, for a release'
	@echo 'make qemu-series       write the models of PT, LBR, PEBS, BTS... as patches for QEMU'
	@echo 'make shell             a shell in the guest'
	@echo 'make list              what is built, the tests, CPU models, PT capabilities'
	@echo 'make bench             what AUX areas and PT cost, stock and ours'
	@echo 'make bench-lab         what the PT model costs, as ratios, and how many objects all is made of'
	@echo 'make kit               pack the kit that tests a machine which has Intel PT'
	@echo 'make deb               pack kernel, headers, perf and kselftests for Debian'
	@echo 'make deb FULL=1        the kernel in the configuration of Debian itself: takes hours'
	@echo 'make clean             remove what was built; the fetched sources stay'
	@echo 'make distclean         remove everything that is not in the repository'
	@echo
	@echo 'More is in README.md and Documentation/lab/.'

run: python
	@CMD="$${CMD-}"; $(LAB) trace --cmd="$$CMD"

check: python
	@$(LAB) check

check-host: python
	@$(LAB) check --host

check-all: python
	@$(LAB) check --all

test: python
	@$(LAB) test $(T)

coverage: python
	@$(LAB) coverage $(T)

fuzz: python
	@$(LAB) fuzz --debug $(if $(TIME),--time $(TIME))

build: python
	@$(LAB) build

menuconfig shell list kit: python
	@$(LAB) $@

series: python
	@FROM="$${FROM-}"; $(if $(findstring /,$(BASE)),$(firstword $(LAB)) series "$$BASE",$(LAB) series) --from="$$FROM"

dist: python
	@FROM="$${FROM-}"; $(LAB) dist --from="$$FROM"

qemu-series: python
	@FROM="$${FROM-}"; $(LAB) qemu-series --from="$$FROM"

deb: python
	@$(LAB) deb $(if $(FULL),--full)

bench: python
	@$(LAB) build --kernel stock
	@$(LAB) build
	@$(LAB) bench aux
	@$(LAB) bench pt

bench-lab: python
	@$(LAB) build --qemu-stock
	@$(LAB) bench pt-cost
	@$(LAB) bench objects

# The lab itself is Python: without it nothing could say what is missing.
python:
	@test -x $(PYTHON) || tools/lab/install-python

clean distclean: python
	@$(LAB) $@
