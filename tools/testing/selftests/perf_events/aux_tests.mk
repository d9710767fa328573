# SPDX-License-Identifier: GPL-2.0-only
# The tests of AUX areas, to be included by the Makefile before ../lib.mk.

AUX_TESTS := aux_mmap aux_full aux_wakeup aux_overwrite aux_lost aux_set_output \
	     aux_mlock aux_mlock_uring aux_memcg aux_big aux_records aux_group aux_sample aux_pause \
	     aux_synth aux_rights aux_user_page aux_life aux_cpus aux_mappers aux_cgroup aux_throttle

TEST_GEN_PROGS += $(AUX_TESTS)

# Runs as long as it is told to, so it is not run by default.
TEST_GEN_PROGS_EXTENDED += aux_stress aux_fuzz

# Runs the others, and names the defects of the kernel that they show.
TEST_PROGS_EXTENDED += aux_report.sh
TEST_FILES += aux_defects

# The source of perf_aux_synth, to be built for kernels that do not have it.
AUX_SYNTH_SOURCE := $(wildcard ../../../../kernel/events/aux/synth*.[ch])
AUX_MODULE := aux_module.mk aux_module.h aux_module.c
TEST_GEN_FILES += $(if $(AUX_SYNTH_SOURCE),perf_aux_synth)

AUX_STRESS_OPS := aux_stress_ops.c aux_stress_life.c aux_stress_wild.c aux_stress_bpf.c \
		  aux_stress_memory.c aux_stress_cgroup.c aux_util_cgroup.c
AUX_FUZZ := aux_fuzz_steps.c aux_fuzz_run.c aux_fuzz_cover.c aux_fuzz_check.c aux_fuzz_shrink.c \
	    aux_fuzz_write.c aux_fuzz_frame.c aux_fuzz_stopped.c
# Calls of these functions in aux_fuzz go by way of aux_fuzz_write.c.
AUX_FUZZ_WRAPPED := syscall mmap mmap64 munmap mremap mprotect madvise mlock ioctl close pipe2 \
		    vmsplice fcntl fcntl64 prctl poll read sendmsg recvmsg stress_put stress_touch \
		    aux_map_area aux_work aux_pin aux_switch_cpu_1 usleep fork kill waitpid _exit \
		    setresuid execl stress_enter

# What follows are rules, none of which is what make is to do by default.
.DEFAULT_GOAL := all
$(addprefix $(or $(OUTPUT),$(CURDIR))/,aux_memcg aux_cgroup): aux_util_cgroup.c aux_util_cgroup.h
$(addprefix $(or $(OUTPUT),$(CURDIR))/,$(AUX_TESTS) aux_stress aux_fuzz): aux_util.c aux_util.h
$(or $(OUTPUT),$(CURDIR))/aux_synth: aux_synth_reader.c aux_synth.h
$(or $(OUTPUT),$(CURDIR))/aux_stress: $(AUX_STRESS_OPS) aux_stress_check.c aux_stress.h
$(or $(OUTPUT),$(CURDIR))/aux_fuzz: $(AUX_FUZZ) $(AUX_STRESS_OPS) aux_stress_check.c aux_stress.h \
				    aux_fuzz.h
$(or $(OUTPUT),$(CURDIR))/aux_fuzz: LDFLAGS += $(AUX_FUZZ_WRAPPED:%=-Wl,--wrap=%)
$(or $(OUTPUT),$(CURDIR))/perf_aux_synth: $(or $(OUTPUT),$(CURDIR))/perf_aux_synth/Makefile ;
# The Makefile comes last, so where it is, the directory is whole.
$(or $(OUTPUT),$(CURDIR))/perf_aux_synth/Makefile: $(AUX_MODULE) $(AUX_SYNTH_SOURCE)
	rm -rf $(@D)
	mkdir -p $(@D)
	cp $(AUX_SYNTH_SOURCE) $(@D)
	cp aux_module.h $(@D)/compat.h
	cp aux_module.c $(@D)/compat.c
	cp aux_module.mk $@
LOCAL_HDRS += aux_util.h aux_util_cgroup.h aux_stress.h aux_fuzz.h aux_synth.h
