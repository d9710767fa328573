// SPDX-License-Identifier: GPL-2.0-only
/* AUX events are exclusive, and some of what other events can be told does not apply to them. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "aux_harness.h"

#define DATA_PAGES	16
#define AREA		(64UL << 10)
#define ROUNDS		2500

#include "aux_fixture.h"

/* File descriptor of an event of the PMU, or -errno */
static int try_open(pid_t pid, int cpu)
{
	struct perf_event_attr attr;
	int fd;

	aux_attr(&attr);
	fd = aux_open(&attr, pid, cpu);
	return fd < 0 ? -errno : fd;
}

/* An event of a task, bound to a CPU or not, keeps others from the same task, and from CPUs. */
TEST_F(aux, one_of_a_task)
{
	pid_t other = aux_worker(-1);
	int first, second;

	ASSERT_GT(other, 0);
	first = try_open(0, -1);
	ASSERT_GE(first, 0);
	EXPECT_EQ(try_open(0, -1), -EBUSY);
	EXPECT_EQ(try_open(0, aux_cpu(0)), -EBUSY);
	if (!aux_missing_cpu())
		EXPECT_EQ(try_open(-1, aux_cpu(0)), -EBUSY);
	second = try_open(other, -1);
	EXPECT_GE(second, 0);
	close(second);
	close(first);
	first = try_open(0, aux_cpu(0));
	EXPECT_GE(first, 0);
	EXPECT_EQ(try_open(0, -1), -EBUSY);
	close(first);
	aux_end_worker(other);
}

/* An event of a CPU keeps others from the same CPU, and from all tasks. */
TEST_F(aux, one_of_a_cpu)
{
	int first, second;

	if (aux_missing_cpu())
		SKIP(return, "%s", aux_missing_cpu());
	first = try_open(-1, aux_cpu(0));
	ASSERT_GE(first, 0);
	EXPECT_EQ(try_open(-1, aux_cpu(0)), -EBUSY);
	EXPECT_EQ(try_open(0, -1), -EBUSY);
	if (aux_cpu(1) >= 0) {
		second = try_open(-1, aux_cpu(1));
		EXPECT_GE(second, 0);
		close(second);
	}
	close(first);
	first = try_open(0, -1);
	EXPECT_GE(first, 0);
	close(first);
}

static int tell(struct aux_event *event, unsigned long what, const void *argument)
{
	return ioctl(event->fd, what, argument) ? -errno : 0;
}

/* It counts nothing and never overflows. What it cannot be told does not disturb the trace. */
TEST_F(aux, is_told_in_vain)
{
	struct aux_event event = { .fd = -1 };
	struct perf_event_attr attr;
	__u64 head, period = 1000;

	ASSERT_EQ(aux_open_mapped(&event, NULL, 0, -1, DATA_PAGES), 0);
	ASSERT_EQ(aux_map_area(&event, AREA, PROT_READ | PROT_WRITE), 0);
	head = aux_trace(&event, ROUNDS);
	EXPECT_GT(head, 0);
	EXPECT_EQ(tell(&event, PERF_EVENT_IOC_RESET, NULL), 0);
	EXPECT_EQ(aux_head(&event), head);
	EXPECT_EQ(tell(&event, PERF_EVENT_IOC_PERIOD, &period), -EINVAL);
	EXPECT_EQ(tell(&event, PERF_EVENT_IOC_REFRESH, (void *)1), -EINVAL);
	aux_attr(&attr);
	EXPECT_EQ(tell(&event, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr), -EOPNOTSUPP);
	attr.type = PERF_TYPE_BREAKPOINT;
	EXPECT_EQ(tell(&event, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr), -EINVAL);
	EXPECT_EQ(aux_head(&event), head);
	aux_set_tail(&event, head);
	EXPECT_GT(aux_trace(&event, ROUNDS), head);
	aux_close(&event);
}

/* Of the PMUs that the tests know, only Intel PT has address filters. */
TEST_F(aux, has_no_filters)
{
	struct aux_event event = { };

	if (aux_type_of("intel_pt") == aux_pmu_type())
		SKIP(return, "intel_pt has address filters");
	event.fd = try_open(0, -1);
	ASSERT_GE(event.fd, 0);
	EXPECT_EQ(tell(&event, PERF_EVENT_IOC_SET_FILTER, "filter 0/4096@/proc/self/exe"), -EINVAL);
	aux_close(&event);
}

TEST_HARNESS_MAIN
