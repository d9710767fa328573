# SPDX-License-Identifier: GPL-2.0-only
# The tests of AUX areas, to be included by the Makefile before ../lib.mk. To run all of perf_events:
#
#	make -C tools/testing/selftests TARGETS=perf_events run_tests
#
# or one program, a fixture, a variant, a test of it (-l lists them):
#
#	cd tools/testing/selftests/perf_events && make && ./aux_full_test -f aux_full -v per_task_synth

AUX_DIR := $(dir $(lastword $(MAKEFILE_LIST)))
AUX_FILES := $(basename $(notdir $(wildcard $(AUX_DIR)aux_*.c)))
AUX_TESTS := $(filter %_test,$(AUX_FILES))
# Not run by default: a CPU goes off, perf_event_paranoid is lowered; aux_stress does both.
AUX_INTRUSIVE := $(filter aux_hotplug_test aux_rights_test,$(AUX_TESTS))
AUX_STRESS := $(filter aux_stress,$(AUX_FILES))
AUX_HDRS := $(notdir $(wildcard $(AUX_DIR)aux_*.h))

TEST_GEN_PROGS += $(filter-out $(AUX_INTRUSIVE),$(AUX_TESTS))
TEST_GEN_PROGS_EXTENDED += $(AUX_INTRUSIVE) $(AUX_STRESS)
LOCAL_HDRS += $(AUX_HDRS)

# What follows are rules, none of which is what make is to do by default.
.DEFAULT_GOAL := all
AUX_OUT := $(or $(OUTPUT),$(CURDIR))/
$(addprefix $(AUX_OUT),$(AUX_TESTS) $(AUX_STRESS)): aux_util.c $(AUX_HDRS)
$(addprefix $(AUX_OUT),aux_memcg_test aux_cgroup_test $(AUX_STRESS)): aux_util_cgroup.c
$(AUX_OUT)aux_synth_test: aux_synth_reader.c
$(addprefix $(AUX_OUT),aux_trigger_test aux_filter_test aux_life_test): aux_util_puppet.c
$(addprefix $(AUX_OUT),$(AUX_STRESS)): $(addsuffix .c,$(filter aux_stress_%,$(AUX_FILES)))
