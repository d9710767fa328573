# SPDX-License-Identifier: GPL-2.0-only
# The Makefile in perf_aux_synth/, which make fills: the module perf_aux_synth for a kernel
# that was configured without it, or is older than it, from Linux 6.1 on.
#
#	make && insmod perf_aux_synth.ko
#
# KDIR  what modules for that kernel are built with; of the running one if it is not named

ifneq ($(obj),)

ifneq ($(CONFIG_PERF_AUX_SYNTH),)
$(error This kernel has perf_aux_synth, built in or for modprobe: none is to be built)
endif
ifneq ($(CONFIG_PERF_EVENTS),y)
$(error This kernel has no perf events: CONFIG_PERF_EVENTS is off)
endif

obj-m := perf_aux_synth.o
perf_aux_synth-y := synth.o synth_format.o compat.o
perf_aux_synth-$(CONFIG_X86_LOCAL_APIC) += synth_nmi.o
hrtimer-header := $(srctree)/include/linux/hrtimer.h
ccflags-y += $(if $(shell grep -w hrtimer_setup $(hrtimer-header)),-DSYNTH_HAS_HRTIMER_SETUP)
ccflags-y += -include $(src)/compat.h
CFLAGS_compat.o := -DSYNTH_COMPAT_C

else

KDIR ?= /lib/modules/$(shell uname -r)/build

modules:
	@if [ ! -f '$(KDIR)/Makefile' ]; then \
		echo "There is no Makefile in '$(KDIR)': install the headers of that kernel" \
		     "(linux-headers-VERSION in Debian), or name what modules are built with" \
		     "by KDIR=DIR" >&2; \
		exit 2; \
	fi
	$(MAKE) -C '$(KDIR)' M='$(CURDIR)' modules

clean:
	rm -rf *.ko *.o *.mod *.mod.c .*.cmd .tmp_versions modules.order Module.symvers

.PHONY: modules clean

endif
