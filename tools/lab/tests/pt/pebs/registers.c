// SPDX-License-Identifier: GPL-2.0-only
/* What the processor shows of PEBS, and what its registers refuse. */
#include <cpuid.h>
#include <err.h>
#include <fcntl.h>
#include <unistd.h>

#include "pebs.h"

/* Nobody counts there. */
#define MSR_FILE	"/dev/cpu/1/msr"
#define PERF_CAPABILITIES	0x345
#define MISC_ENABLE	0x1a0
#define PEBS_ENABLE	0x3f1
#define DS_AREA		0x600
/* Format 3, all registers, after the event */
#define CAP_PEBS	0x3c0
#define CAP_PEBS_MASK	0x4fc0
#define NO_BTS		0x800
#define NO_PEBS		0x1000
#define EDX_DS		0x200000
#define ECX_DTES64	0x4

static const struct {
	__u32 msr;
	__u64 value;
	bool taken;
} writes[] = {
	{ PEBS_ENABLE, 0xf, true },
	{ PEBS_ENABLE, 0x10, false },
	{ PEBS_ENABLE, 1ULL << 32, false },
	{ PEBS_ENABLE, 1ULL << 63, false },
	{ DS_AREA, 0x00007ffffffffff8, true },
	{ DS_AREA, 0xffff800000000000, true },
	{ DS_AREA, 0x0100000000000000, false },
	{ DS_AREA, 0x8000000000000000, false },
};

static __u64 read_msr(int fd, __u32 msr)
{
	__u64 value;

	if (pread(fd, &value, sizeof(value), msr) != sizeof(value))
		err(1, "MSR %#x", msr);
	return value;
}

static bool write_is_right(int fd, __u32 msr, __u64 value, bool taken)
{
	__u64 before = read_msr(fd, msr), after;
	bool written = pwrite(fd, &value, sizeof(value), msr) == sizeof(value);

	after = read_msr(fd, msr);
	if (written && pwrite(fd, &before, sizeof(before), msr) != sizeof(before))
		err(1, "MSR %#x", msr);
	return written == taken && after == (taken ? value : before);
}

void test_registers(void)
{
	int fd = open(MSR_FILE, O_RDWR | O_CLOEXEC);
	unsigned int a, b, c = 0, d = 0;
	bool right = true;
	__u64 misc;

	if (fd < 0)
		err(1, MSR_FILE);
	__get_cpuid(1, &a, &b, &c, &d);
	misc = read_msr(fd, MISC_ENABLE);
	point(d & EDX_DS && c & ECX_DTES64 && !(misc & NO_BTS) && !(misc & NO_PEBS) &&
	      (read_msr(fd, PERF_CAPABILITIES) & CAP_PEBS_MASK) == CAP_PEBS,
	      "the processor shows PEBS beside BTS");
	for (unsigned int i = 0; i < sizeof(writes) / sizeof(*writes); i++)
		if (!write_is_right(fd, writes[i].msr, writes[i].value, writes[i].taken)) {
			diag("MSR %#x, %#llx", writes[i].msr, writes[i].value);
			right = false;
		}
	point(right, "what the registers of PEBS take, and what not");
	close(fd);
}
