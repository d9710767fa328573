# SPDX-License-Identifier: GPL-2.0-only
# The tests of AUX areas, to be included by the Makefile before ../lib.mk.

AUX_TESTS := aux_mmap aux_full aux_wakeup aux_overwrite aux_lost aux_set_output \
	     aux_mlock aux_mlock_uring aux_memcg aux_big aux_records aux_group aux_sample aux_pause \
	     aux_synth aux_rights aux_user_page aux_life aux_cpus aux_mappers aux_cgroup aux_throttle

TEST_GEN_PROGS += $(AUX_TESTS)

# Runs as long as it is told to, so it is not run by default.
TEST_GEN_PROGS_EXTENDED += aux_stress

AUX_STRESS_OPS := aux_stress_ops.c aux_stress_life.c aux_stress_wild.c aux_stress_bpf.c \
		  aux_stress_memory.c aux_stress_cgroup.c aux_util_cgroup.c

# What follows are rules, none of which is what make is to do by default.
.DEFAULT_GOAL := all
$(addprefix $(or $(OUTPUT),$(CURDIR))/,aux_memcg aux_cgroup): aux_util_cgroup.c aux_util_cgroup.h
$(addprefix $(or $(OUTPUT),$(CURDIR))/,$(AUX_TESTS) aux_stress): aux_util.c aux_util.h
$(or $(OUTPUT),$(CURDIR))/aux_synth: aux_synth_reader.c aux_synth.h
$(or $(OUTPUT),$(CURDIR))/aux_stress: $(AUX_STRESS_OPS) aux_stress_check.c aux_stress.h
LOCAL_HDRS += aux_util.h aux_util_cgroup.h aux_stress.h aux_synth.h
