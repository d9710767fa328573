// SPDX-License-Identifier: GPL-2.0-only
/* perf_event_open(2) for CPU 1, which is offline, or has no BTS. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "errors.h"

#define CPU			1
#define ONLINE			"/sys/devices/system/cpu/cpu1/online"
#define MSRS			"/dev/cpu/1/msr"
#define IA32_MISC_ENABLE	0x1a0
#define BTS_UNAVAILABLE		(1ULL << 11)

static int all_on_cpu(void)
{
	return try_cpu(EVERYBODY, CPU);
}

static int thread_on_cpu(void)
{
	return try_cpu(0, CPU);
}

/*
 * While the CPU is offline, other events work, a task's event of that CPU among them, which waits
 * until the CPU is there; when it is back, so do these.
 */
static int while_offline(int (*attempt)(void))
{
	int ret, others;

	if (attempt() || write_file(ONLINE, "0"))
		return BROKEN;
	ret = attempt();
	others = try_open(NULL) || thread_on_cpu();
	return write_file(ONLINE, "1") || others || attempt() ? BROKEN : ret;
}

static int meet_offline_all(void)
{
	return while_offline(all_on_cpu);
}

/*
 * What the kernel looks at when the CPU comes online. On a processor the bit is read-only; QEMU's
 * CPUs let it be written, and keep it over INIT.
 */
static int set_unavailable(bool unavailable)
{
	int fd = open(MSRS, O_RDWR | O_CLOEXEC);
	__u64 value;
	bool good;

	good = fd >= 0 && pread(fd, &value, sizeof(value), IA32_MISC_ENABLE) == sizeof(value);
	value = unavailable ? value | BTS_UNAVAILABLE : value & ~BTS_UNAVAILABLE;
	good = good && pwrite(fd, &value, sizeof(value), IA32_MISC_ENABLE) == sizeof(value);
	if (!good)
		diag(MSRS ": %s", strerror(errno));
	close(fd);
	return good ? 0 : BROKEN;
}

static int come_back(bool with_bts)
{
	return set_unavailable(!with_bts) || write_file(ONLINE, "0") || write_file(ONLINE, "1");
}

static int without_bts(int (*attempt)(void))
{
	int ret, others;

	if (come_back(false))
		return BROKEN;
	ret = attempt();
	others = try_open(NULL) || try_cpu(EVERYBODY, 0);
	return come_back(true) || others || attempt() ? BROKEN : ret;
}

static int meet_lacking_all(void)
{
	return without_bts(all_on_cpu);
}

static int meet_lacking_thread(void)
{
	return without_bts(thread_on_cpu);
}

#define OFFLINE	"for all tasks on a CPU that is offline"
#define LACKING	"for a CPU that has no BTS, though the first CPU has it"

const struct refusal by_cpu[] = {
	{ OPEN, OFFLINE, "all tasks on CPU 1", meet_offline_all },
	{ OPEN, LACKING, "all tasks on CPU 1", meet_lacking_all },
	{ OPEN, LACKING, "a task on CPU 1", meet_lacking_thread },
	{ }
};
