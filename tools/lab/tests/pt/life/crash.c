// SPDX-License-Identifier: GPL-2.0-only
/*
 * crash: have payload.S run after a crash of this kernel, then let it crash.
 * crash kexec: have it run in the place of this kernel, without a crash.
 *
 * It says first whether its CPU, 0, stores branches: on the console, which has the line
 * before this kernel ends, while a line on standard output may still be on its way.
 *
 * The memory for the former is where "crashkernel=" on the command line has put it.
 */
#include <err.h>
#include <fcntl.h>
#include <linux/kexec.h>
#include <linux/reboot.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "payload.h"

#define PAGE	4096UL
#define MSR_DEBUGCTL	0x1d9
#define DEBUGCTL_BTS	(1 << 7)
/* Any memory: it is copied there when nothing else is needed any more. */
#define KEXEC_PLACE	(64UL << 20)

static void show_debugctl(void)
{
	int msr = open("/dev/cpu/0/msr", O_RDONLY), log = open("/dev/kmsg", O_WRONLY);
	unsigned long long value;
	char line[32];
	int length;

	if (msr < 0 || pread(msr, &value, sizeof(value), MSR_DEBUGCTL) != sizeof(value))
		err(1, "/dev/cpu/0/msr");
	length = snprintf(line, sizeof(line), "stores 0 %d\n", !!(value & DEBUGCTL_BTS));
	if (log < 0 || write(log, line, length) != length)
		err(1, "/dev/kmsg");
	close(log);
	close(msr);
}

static unsigned long reserved_memory(void)
{
	FILE *list = fopen("/proc/iomem", "r");
	unsigned long begin, end;
	char line[128];

	if (!list)
		err(1, "/proc/iomem");
	while (fgets(line, sizeof(line), list)) {
		if (strstr(line, "Crash kernel") &&
		    sscanf(line, "%lx-%lx", &begin, &end) == 2) {
			fclose(list);
			return begin;
		}
	}
	errx(1, "nothing is reserved for a kernel after a crash");
}

static void load(unsigned long where, unsigned long flags)
{
	size_t size = payload_end - payload;
	struct kexec_segment segment = {
		.buf = payload,
		.bufsz = size,
		.mem = (void *)where,
		.memsz = (size + PAGE - 1) & -PAGE,
	};

	if (syscall(SYS_kexec_load, where, 1UL, &segment,
		    flags | KEXEC_ARCH_X86_64))
		err(1, "kexec_load");
}

static void leave_by_kexec(void)
{
	load(KEXEC_PLACE, 0);
	syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2,
		LINUX_REBOOT_CMD_KEXEC, NULL);
	err(1, "reboot");
}

int main(int argc, char **argv)
{
	FILE *trigger;

	show_debugctl();
	if (argc > 1 && !strcmp(argv[1], "kexec"))
		leave_by_kexec();
	load(reserved_memory(), KEXEC_ON_CRASH);
	trigger = fopen("/proc/sysrq-trigger", "w");
	if (!trigger)
		err(1, "/proc/sysrq-trigger");
	fputs("c", trigger);
	fclose(trigger);
	errx(1, "it did not crash");
}
