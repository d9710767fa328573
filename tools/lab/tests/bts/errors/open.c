// SPDX-License-Identifier: GPL-2.0-only
/* perf_event_open(2): there is no such PMU, who asks, what is asked for. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "errors.h"

#define DEVICES		"/sys/bus/event_source/devices"
#define PERIOD		100000

/* A type that no PMU has: the next one. */
static int free_type(void)
{
	int most = PERF_TYPE_MAX - 1, type;
	DIR *dir = opendir(DEVICES);
	char path[512];
	FILE *file;

	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		snprintf(path, sizeof(path), DEVICES "/%s/type", entry->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (fscanf(file, "%d", &type) == 1 && type > most)
			most = type;
		fclose(file);
	}
	if (dir)
		closedir(dir);
	return most + 1;
}

static int meet_no_pmu(void)
{
	struct perf_event_attr attr;

	if (aux_pmu_type() >= 0)
		return BROKEN;
	aux_attr(&attr);
	attr.type = free_type();
	return try_open(&attr);
}

const struct refusal missing[] = {
	{ OPEN, "if there is no such PMU", "an event of a type that no PMU has", meet_no_pmu },
	{ }
};

static int open_user(void)
{
	return try_open(NULL);
}

static int open_both(void)
{
	struct perf_event_attr attr;

	aux_attr(&attr);
	attr.exclude_kernel = 0;
	return try_open(&attr);
}

static int open_cpu(void)
{
	return try_cpu(EVERYBODY, 0);
}

static int open_parent(void)
{
	return try_cpu(getppid(), ANYWHERE);
}

#define PRIVILEGE	"without the privilege that all events need"

const struct refusal by_privilege[] = {
	{ OPEN, PRIVILEGE, "branches of user code", open_user, "2", "1" },
	{ OPEN, PRIVILEGE, "all branches", open_both, "2", "1" },
	{ OPEN, "for a CPU, without CAP_PERFMON and with perf_event_paranoid above 0",
	  "an event of CPU 0", open_cpu, "1", "0" },
	{ OPEN, "for a task of another user, without CAP_PERFMON", "an event of root's task",
	  open_parent, "-1" },
	{ }
};

static int meet_start_paused(void)
{
	struct perf_event_attr attr;

	aux_attr(&attr);
	aux_set_action(&attr, AUX_START_PAUSED);
	return try_open(&attr);
}

static int meet_output(void)
{
	struct perf_event_attr attr;

	aux_attr(&attr);
	attr.aux_output = 1;
	return try_open(&attr);
}

/* An event of another PMU in the group of a trace. */
static int open_follower(__u32 action, __u32 sample)
{
	struct perf_event_attr attr;
	int leader = open_trace(NULL, 0, ANYWHERE), fd, ret;

	if (leader < 0)
		return BROKEN;
	aux_sampler_attr(&attr, PERIOD);
	aux_set_action(&attr, action);
	if (sample) {
		attr.sample_type |= PERF_SAMPLE_AUX;
		attr.aux_sample_size = sample;
	}
	fd = aux_open_in_group(&attr, 0, ANYWHERE, leader);
	ret = close_trace(fd < 0 ? -errno : fd);
	close(leader);
	return ret;
}

/* Without that it is allowed. */
static int meet_action(__u32 action, __u32 sample)
{
	return open_follower(0, 0) ? BROKEN : open_follower(action, sample);
}

static int meet_pause(void)
{
	return meet_action(AUX_PAUSE, 0);
}

static int meet_resume(void)
{
	return meet_action(AUX_RESUME, 0);
}

static int meet_sample(void)
{
	return meet_action(0, aux_page_size());
}

#define FOLLOWER	"for an event that pauses or resumes a trace of BTS, or has it in samples"

const struct refusal by_attr[] = {
	{ OPEN, "with aux_start_paused or aux_output", "aux_start_paused", meet_start_paused },
	{ OPEN, "with aux_start_paused or aux_output", "aux_output", meet_output },
	{ OPEN, FOLLOWER, "instructions that pause it", meet_pause },
	{ OPEN, FOLLOWER, "instructions that resume it", meet_resume },
	{ OPEN, FOLLOWER, "instructions with samples of it", meet_sample },
	{ }
};

/* Where no level is excluded, it is allowed. */
static int exclude(bool kernel, bool user)
{
	struct perf_event_attr attr;

	aux_attr(&attr);
	attr.exclude_kernel = kernel;
	attr.exclude_user = user;
	return open_both() ? BROKEN : try_open(&attr);
}

static int meet_exclude_kernel(void)
{
	return exclude(true, false);
}

static int meet_exclude_user(void)
{
	return exclude(false, true);
}

static int meet_exclude_all(void)
{
	return exclude(true, true);
}

/* Samples of each branch by the core PMU, which have to exclude the kernel. */
static int meet_each_branch(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
		.sample_period = 1, .exclude_kernel = 1,
	};

	return try_open(&attr);
}

#define LEVEL	"to exclude a privilege level, on processors without DS-CPL"

const struct refusal by_level[] = {
	{ OPEN, LEVEL, "exclude_kernel", meet_exclude_kernel },
	{ OPEN, LEVEL, "exclude_user", meet_exclude_user },
	{ OPEN, LEVEL, "both of them", meet_exclude_all },
	{ OPEN, LEVEL, "samples of each branch", meet_each_branch },
	{ }
};
