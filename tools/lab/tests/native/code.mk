# SPDX-License-Identifier: GPL-2.0-only
# What the Makefiles of the user-space tests of files of the kernel's have in common:
#
#   make O=DIR [CODE=DIR] makes DIR/$(PROGRAM)
#
# CODE     the directory of the files under test; another than our own shows whether
#          the tests notice faults
# SANITIZE the sanitizers' flags; empty: quicker to build
#
# They set PROGRAM, CODE, OBJS, and in FLAGS what the compiler is told first.

HERE := $(abspath $(dir $(firstword $(MAKEFILE_LIST))))
NATIVE := $(abspath $(dir $(lastword $(MAKEFILE_LIST))))
ROOT := $(abspath $(NATIVE)/../../../..)
O ?= build
CC ?= gcc
SANITIZE ?= -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all

# "../../perf_event.h" of a driver and "../internal.h" of pause.c are those of native/ by -iquote.
CFLAGS = -std=gnu11 -Wall -Wextra -Werror -Wno-sign-compare -Wno-unused-parameter $(FLAGS) \
	 -iquote $(NATIVE)/shim/uapi -I$(NATIVE)/shim -I$(HERE) -I$(NATIVE) \
	 -I$(abspath $(CODE)) -I$(ROOT)/kernel/events/aux -DPROGRAM='"$(PROGRAM)"' $(SANITIZE)
ALL_OBJS := $(addprefix $(O)/,main.o points.o chance.o $(OBJS))

$(O)/$(PROGRAM): $(ALL_OBJS)
	$(CC) $(CFLAGS) -o $@ $^

vpath %.c $(HERE) $(NATIVE) $(CODE) $(CODE)/tests $(CODE)/aux $(CODE)/aux/tests $(ROOT)/kernel/events/aux

$(ALL_OBJS): $(O)/%.o: %.c $(MAKEFILE_LIST) | $(O)
	$(CC) $(CFLAGS) -MMD -MP -c -o $@ $<

$(O):
	mkdir -p $@

-include $(ALL_OBJS:.o=.d)
