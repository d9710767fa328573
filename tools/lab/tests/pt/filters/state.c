// SPDX-License-Identifier: GPL-2.0-only
/* Events, files that are mapped, and the registers that tell what becomes of both. */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filters.h"

#define RTIT_CTL	0x570
#define RTIT_ADDR0_A	0x580
#define TRACE_EN	1
#define ADDR0_CFG_SHIFT	32
#define AREA		(64UL << 10)

unsigned int nr_ranges(void)
{
	static unsigned int nr;
	FILE *file;

	if (nr)
		return nr;
	file = fopen("/sys/bus/event_source/devices/intel_pt/nr_addr_filters", "r");
	if (!file || fscanf(file, "%u", &nr) != 1)
		errx(1, "no nr_addr_filters");
	fclose(file);
	return nr;
}

static __u64 read_msr(int cpu, off_t number)
{
	static int files[2] = { -1, -1 };
	char name[64];
	__u64 value;

	snprintf(name, sizeof(name), "/dev/cpu/%d/msr", cpu);
	if (files[cpu] < 0)
		files[cpu] = open(name, O_RDONLY | O_CLOEXEC);
	if (pread(files[cpu], &value, sizeof(value), number) != sizeof(value))
		err(1, "%s, %#lx", name, number);
	return value;
}

void read_regs(int cpu, struct regs *regs)
{
	unsigned int ranges = nr_ranges();
	__u64 ctl = read_msr(cpu, RTIT_CTL);

	*regs = (struct regs) { .on = ctl & TRACE_EN };
	for (unsigned int i = 0; i < ranges; i++) {
		regs->config[i] = ctl >> (ADDR0_CFG_SHIFT + 4 * i) & 15;
		regs->from[i] = read_msr(cpu, RTIT_ADDR0_A + 2 * i);
		regs->to[i] = read_msr(cpu, RTIT_ADDR0_A + 2 * i + 1);
	}
}

bool same_regs(const struct regs *got, const struct regs *want)
{
	if (!got->on) {
		diag("nothing is traced");
		return false;
	}
	for (unsigned int i = 0; i < MOST_RANGES; i++) {
		if (got->config[i] != want->config[i]) {
			diag("range %u: is of kind %u, not %u", i, got->config[i],
			     want->config[i]);
			return false;
		}
		if (got->config[i] &&
		    (got->from[i] != want->from[i] || got->to[i] != want->to[i])) {
			diag("range %u: is %llx to %llx, not %llx to %llx", i, got->from[i],
			     got->to[i], want->from[i], want->to[i]);
			return false;
		}
	}
	return true;
}

struct aux_event start_trace(pid_t pid, int cpu)
{
	struct perf_event_attr attr;
	struct aux_event event;
	int ret;

	aux_attr(&attr);
	/* The kernel tells filters of new mappings only where somebody wants records of them. */
	attr.mmap = 1;
	ret = aux_open_mapped(&event, &attr, pid, cpu, 1) ?:
	      aux_map_area(&event, AREA, PROT_READ) ?: aux_enable(&event);
	if (ret)
		errx(1, "no trace: %s", strerror(-ret));
	return event;
}

int set_filter(const struct aux_event *event, const char *format, ...)
{
	char text[8192];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return ioctl(event->fd, PERF_EVENT_IOC_SET_FILTER, text) ? -errno : 0;
}

struct object make_object(const char *path)
{
	struct object object = { };
	struct stat status;
	int fd = open(path, O_RDWR | O_CREAT, 0755);

	if (fd < 0 || ftruncate(fd, OBJECT_PAGES * aux_page_size()) || fstat(fd, &status))
		err(1, "%s", path);
	close(fd);
	snprintf(object.path, sizeof(object.path), "%s", path);
	object.dev = status.st_dev;
	object.ino = status.st_ino;
	return object;
}

void map_object(struct object *object, unsigned int first, unsigned int nr, int prot)
{
	int fd = open(object->path, O_RDONLY);

	object->offset = first * aux_page_size();
	object->len = nr * aux_page_size();
	object->at = mmap(object->at, object->len, prot,
			  MAP_PRIVATE | (object->at ? MAP_FIXED : 0), fd, object->offset);
	if (fd < 0 || object->at == MAP_FAILED)
		err(1, "mmap(%s, %u pages from %u)", object->path, nr, first);
	close(fd);
}

void unmap_object(struct object *object)
{
	munmap(object->at, object->len);
	object->at = NULL;
}
