// SPDX-License-Identifier: GPL-2.0-only
/* mmap(2) of an area, and ioctl(2). */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "errors.h"

#define DATA_PAGES	4
#define AREA		(64UL << 10)
#define READ_WRITE	(PROT_READ | PROT_WRITE)

/* What mmap(2) says of an area at an offset, whatever the user page says. */
static int map_raw(struct aux_event *event, __u64 offset, size_t len, int flags)
{
	void *map = aux_map_raw(event, offset, len, READ_WRITE, flags);

	if (map == MAP_FAILED)
		return -errno;
	munmap(map, len);
	return 0;
}

/* An event whose data buffer is mapped, and whose user page has an area; or it is BROKEN. */
static int prepare(struct aux_event *event, struct perf_event_attr *attr)
{
	if (aux_open_mapped(event, attr, 0, ANYWHERE, DATA_PAGES)) {
		aux_close(event);
		return BROKEN;
	}
	event->page->aux_offset = event->data_len;
	event->page->aux_size = AREA;
	return 0;
}

int meet_with_event(int (*attempt)(struct aux_event *event))
{
	struct aux_event event;
	int ret;

	if (prepare(&event, NULL))
		return BROKEN;
	ret = map_raw(&event, event.data_len, AREA, MAP_SHARED) ? BROKEN : attempt(&event);
	aux_close(&event);
	return ret;
}

static int three_pages(struct aux_event *event)
{
	event->page->aux_size = 3 * aux_page_size();
	return map_raw(event, event->data_len, 3 * aux_page_size(), MAP_SHARED);
}

static int other_size(struct aux_event *event)
{
	return map_raw(event, event->data_len, 2 * AREA, MAP_SHARED);
}

static int other_offset(struct aux_event *event)
{
	return map_raw(event, event->data_len + AREA, AREA, MAP_SHARED);
}

static int over_data(struct aux_event *event)
{
	event->page->aux_offset = event->data_len - aux_page_size();
	return map_raw(event, event->page->aux_offset, AREA, MAP_SHARED);
}

static int private(struct aux_event *event)
{
	return map_raw(event, event->data_len, AREA, MAP_PRIVATE);
}

/* Another size than that of the area that is mapped. */
static int beside_area(struct aux_event *event)
{
	if (aux_map_area(event, AREA, READ_WRITE))
		return BROKEN;
	event->page->aux_size = 2 * AREA;
	return map_raw(event, event->data_len, 2 * AREA, MAP_SHARED);
}

/* Nobody has said where the area is to be. */
static int meet_no_data(void)
{
	struct aux_event event = { .fd = open_trace(NULL, 0, ANYWHERE) };
	int ret;

	if (event.fd < 0)
		return BROKEN;
	ret = map_raw(&event, (1 + DATA_PAGES) * aux_page_size(), AREA, MAP_SHARED);
	aux_close(&event);
	return ret;
}

/* Not even the data buffer of such an event can be mapped. */
static int meet_inherited(void)
{
	struct perf_event_attr attr;
	struct aux_event event = { };
	int ret, bound;

	aux_attr(&attr);
	attr.inherit = 1;
	bound = aux_open_mapped(&event, &attr, 0, 0, DATA_PAGES) ?:
		aux_map_area(&event, AREA, READ_WRITE);
	aux_close(&event);
	event.fd = open_trace(&attr, 0, ANYWHERE);
	ret = map_raw(&event, (1 + DATA_PAGES) * aux_page_size(), AREA, MAP_SHARED);
	if (event.fd < 0 || bound)
		ret = BROKEN;
	aux_close(&event);
	return ret;
}

static size_t above_allowance(void)
{
	size_t size = AREA;

	while (size < aux_allowance())
		size *= 2;
	return size;
}

/* By a user who may not lock memory, but for the allowance; less than that can be mapped. */
static int map_too_much(void)
{
	struct aux_event event;
	int ret = BROKEN;

	if (prepare(&event, NULL))
		return BROKEN;
	if (!map_raw(&event, event.data_len, AREA, MAP_SHARED)) {
		event.page->aux_size = above_allowance();
		ret = map_raw(&event, event.data_len, above_allowance(), MAP_SHARED);
	}
	aux_close(&event);
	return ret;
}

static int set_filter(struct aux_event *event)
{
	return ioctl(event->fd, PERF_EVENT_IOC_SET_FILTER, "filter 0x400000/0x1000") ? -errno : 0;
}

#define PLACE	"for any other mapping that Documentation/userspace-api/perf_aux_area.rst " \
		"rules out"
#define LIMIT	"above perf_event_mlock_kb and RLIMIT_MEMLOCK, without CAP_IPC_LOCK"

const struct refusal by_area[] = {
	{ MMAP, PLACE, "three pages", .with_event = three_pages },
	{ MMAP, PLACE, "another size than that of the user page", .with_event = other_size },
	{ MMAP, PLACE, "another offset than that of the user page", .with_event = other_offset },
	{ MMAP, PLACE, "where the data buffer ends", .with_event = over_data },
	{ MMAP, PLACE, "no data buffer", meet_no_data },
	{ MMAP, PLACE, "an area of another size is mapped", .with_event = beside_area },
	{ MMAP, PLACE, "a private mapping", .with_event = private },
	{ MMAP, "for an event that is inherited and not bound to a CPU", "inherit",
	  meet_inherited },
	{ MMAP, LIMIT, "as an ordinary user", map_too_much, "1" },
	{ IOCTL, "to set address filters", "a filter of a page", .with_event = set_filter },
	{ }
};

static size_t total, available;

static int map_size(struct aux_event *event)
{
	event->page->aux_size = total;
	return map_raw(event, event->data_len, total, MAP_SHARED);
}

/* The machine has less. */
static int meet_too_large(void)
{
	struct sysinfo info;

	if (sysinfo(&info))
		return BROKEN;
	for (total = AREA; total <= info.totalram * info.mem_unit;)
		total *= 2;
	return meet_with_event(map_size);
}

/* The machine has as much, but others have some of it. */
static int meet_no_memory(void)
{
	struct sysinfo info;

	if (meet_too_large() != -ENOMEM || sysinfo(&info))
		return BROKEN;
	total /= 2;
	available = info.freeram * info.mem_unit;
	diag("%zu KiB for an area, %zu free", total >> 10, available >> 10);
	return available < total ? meet_with_event(map_size) : BROKEN;
}

#define MEMORY	"if there is no memory for it"

const struct refusal by_memory[] = {
	{ MMAP, MEMORY, "more than the machine has", meet_too_large },
	{ MMAP, MEMORY, "more than is free", meet_no_memory },
	{ }
};
