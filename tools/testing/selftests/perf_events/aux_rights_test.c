// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who may trace what: at each perf_event_paranoid, with all capabilities, with
 * CAP_PERFMON alone, and with none.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aux_harness.h"

#define NOBODY		65534
#define DATA_PAGES	1

/* Older headers do not have it. */
#ifndef CAP_PERFMON
#define CAP_PERFMON	38
#endif

enum subject {
	OWN_USER,	/* the caller's own user space */
	OWN_KERNEL,	/* what the kernel does for the caller, too */
	OTHER_TASK,	/* user space of another user's task */
	WHOLE_CPU,	/* user space of whatever runs on a CPU */
	LARGE_AREA,	/* an area beyond what the user may lock */
	NR_SUBJECTS
};

static const char *const names[NR_SUBJECTS] = {
	"its own user space", "the kernel on its behalf", "another user's task", "a CPU",
	"with an area that is too large to be locked",
};

struct answers {
	int error[NR_SUBJECTS];
	/* of an event that any user may have where there are events for users */
	int software;
};

/* Some distributions' kernels give events to CAP_SYS_ADMIN alone at this level. */
#define LEVEL_CLOSED	3

FIXTURE(aux_rights)
{
	pid_t other;
	struct answers *answers;
};

FIXTURE_VARIANT(aux_rights)
{
	const char *pmu;
	bool is_root, has_perfmon;
};

FIXTURE_VARIANT_ADD(aux_rights, root_synth)
{
	.pmu = "aux_synth", .is_root = true, .has_perfmon = true,
};

FIXTURE_VARIANT_ADD(aux_rights, root_pt)
{
	.pmu = "intel_pt", .is_root = true, .has_perfmon = true,
};

FIXTURE_VARIANT_ADD(aux_rights, root_bts)
{
	.pmu = "intel_bts", .is_root = true, .has_perfmon = true,
};

FIXTURE_VARIANT_ADD(aux_rights, perfmon_synth) { .pmu = "aux_synth", .has_perfmon = true };
FIXTURE_VARIANT_ADD(aux_rights, perfmon_pt) { .pmu = "intel_pt", .has_perfmon = true };
FIXTURE_VARIANT_ADD(aux_rights, perfmon_bts) { .pmu = "intel_bts", .has_perfmon = true };
FIXTURE_VARIANT_ADD(aux_rights, nothing_synth) { .pmu = "aux_synth" };
FIXTURE_VARIANT_ADD(aux_rights, nothing_pt) { .pmu = "intel_pt" };
FIXTURE_VARIANT_ADD(aux_rights, nothing_bts) { .pmu = "intel_bts" };

FIXTURE_SETUP(aux_rights)
{
	aux_use(variant->pmu);
	if (aux_missing_become())
		SKIP(return, "%s", aux_missing_become());
	if (!aux_has_cap(CAP_PERFMON) || !aux_has_cap(CAP_SETPCAP))
		SKIP(return, "to give rights up needs CAP_PERFMON and CAP_SETPCAP");
	if (aux_restore_at_end(AUX_PARANOID, NULL))
		SKIP(return, "may not set perf_event_paranoid");
	self->answers = mmap(NULL, sizeof(*self->answers), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(self->answers, MAP_FAILED);
	/* A task of root's, whom the others may not look at. */
	self->other = aux_worker(-1);
	ASSERT_GT(self->other, 0);
}

FIXTURE_TEARDOWN(aux_rights)
{
	aux_end_worker(self->other);
}

/* Become a user with no capability but one, or with none at all. */
static int give_up(bool keep_perfmon)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { };
	__u32 bit = keep_perfmon ? 1U << CAP_PERFMON % 32 : 0;

	data[CAP_PERFMON / 32].permitted = bit;
	data[CAP_PERFMON / 32].effective = bit;
	if (prctl(PR_SET_KEEPCAPS, 1) || aux_become(NOBODY))
		return -errno;
	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

static int try_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = aux_open(attr, pid, cpu);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int try_large_area(void)
{
	struct aux_event event;
	__u64 allowance = aux_allowance();
	size_t len = aux_page_size();
	int error;

	while (len <= allowance && len < SIZE_MAX / 4)
		len *= 2;
	error = aux_open_mapped(&event, NULL, 0, -1, DATA_PAGES) ?:
		aux_map_area(&event, len, PROT_READ | PROT_WRITE);
	aux_close(&event);
	return -error;
}

static void ask(struct answers *answers, pid_t other)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY, .exclude_kernel = 1, .exclude_hv = 1,
	};

	answers->software = try_open(&attr, 0, -1);
	aux_attr(&attr);
	answers->error[OWN_USER] = try_open(&attr, 0, -1);
	answers->error[OTHER_TASK] = try_open(&attr, other, -1);
	answers->error[WHOLE_CPU] = try_open(&attr, -1, 0);
	attr.exclude_kernel = 0;
	answers->error[OWN_KERNEL] = try_open(&attr, 0, -1);
	answers->error[LARGE_AREA] = try_large_area();
}

/* What a task that has no capability may not do at a level. */
static struct answers of_nothing(int level, bool privileged)
{
	bool refused = privileged || (aux_tells_of_kernel() && level > 1);
	int without = refused ? EACCES : 0;

	return (struct answers) { {
		[OWN_USER]	= without,
		[OWN_KERNEL]	= level > 1 ? EACCES : without,
		[OTHER_TASK]	= EACCES,
		[WHOLE_CPU]	= level > 0 ? EACCES : without,
		[LARGE_AREA]	= without,
	} };
}

static struct answers of_nobody(void)
{
	struct answers all = { .software = EACCES };

	for (unsigned int i = 0; i < NR_SUBJECTS; i++)
		all.error[i] = EACCES;
	return all;
}

static void ask_and_leave(struct answers *answers, pid_t other, bool is_root, bool has_perfmon)
{
	struct rlimit none = { };

	if (setrlimit(RLIMIT_MEMLOCK, &none) || (!is_root && give_up(has_perfmon)))
		_exit(1);
	ask(answers, other);
	_exit(0);
}

TEST_F(aux_rights, as_perf_event_paranoid_says)
{
	bool privileged;

	/* A PMU may be for the privileged alone, at any level. */
	ASSERT_EQ(aux_set_paranoid(-1), 0);
	privileged = aux_missing_users();

	for (int level = -1; level <= LEVEL_CLOSED; level++) {
		struct answers want = { };
		int status;
		pid_t pid;

		if (!variant->has_perfmon)
			want = of_nothing(level, privileged);
		/* Memory is another right than to trace. */
		if (!variant->is_root && level > -1 && !want.error[LARGE_AREA])
			want.error[LARGE_AREA] = EPERM;

		ASSERT_EQ(aux_set_paranoid(level), 0);
		pid = fork();
		ASSERT_GE(pid, 0);
		if (!pid)
			ask_and_leave(self->answers, self->other, variant->is_root,
				      variant->has_perfmon);
		ASSERT_EQ(waitpid(pid, &status, 0), pid);
		ASSERT_EQ(status, 0);
		if (level == LEVEL_CLOSED && !variant->is_root && self->answers->software)
			want = of_nobody();
		EXPECT_EQ(self->answers->software, want.software);
		for (unsigned int i = 0; i < NR_SUBJECTS; i++) {
			EXPECT_EQ(self->answers->error[i], want.error[i]) {
				TH_LOG("perf_event_paranoid %d: tracing %s", level, names[i]);
			}
		}
	}
}

TEST_HARNESS_MAIN
