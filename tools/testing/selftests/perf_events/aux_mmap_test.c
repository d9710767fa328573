// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mapping an AUX area: which geometry is accepted, the errno of each that is
 * not, and what may be done to the mapping.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aux_harness.h"

#define DATA_PAGES	8
#define AREA_PAGES	16
#define NOBODY		65534
#define ROUNDS		5000

/*
 * Offsets and lengths are in pages, offsets counted from the end of the data;
 * what the user page says is the difference to that, in bytes.
 */
static const struct {
	const char *name;
	int offset, pages;
	int64_t offset_off, size_off;
	int flags;
	int want;
} geometries[] = {
	{ "right behind the data", .pages = AREA_PAGES },
	{ "behind a hole", .offset = 5, .pages = AREA_PAGES },
	{ "one page", .pages = 1 },
	{ "within the data", .offset = -1, .pages = AREA_PAGES, .want = EINVAL },
	{ "aux_offset a page before", .offset_off = -4096, .pages = AREA_PAGES, .want = EINVAL },
	{ "aux_offset a page behind", .offset_off = 4096, .pages = AREA_PAGES, .want = EINVAL },
	{ "aux_offset a byte off", .offset_off = 1, .pages = AREA_PAGES, .want = EINVAL },
	{ "aux_size larger", .size_off = 4096, .pages = AREA_PAGES, .want = EINVAL },
	{ "aux_size smaller", .size_off = -4096, .pages = AREA_PAGES, .want = EINVAL },
	{ "aux_size a byte off", .size_off = -1, .pages = AREA_PAGES, .want = EINVAL },
	{ "aux_size beyond 4 GiB", .size_off = 1LL << 32, .pages = AREA_PAGES, .want = EINVAL },
	{ "three pages", .pages = 3, .want = EINVAL },
	{ "24 pages", .pages = 24, .want = EINVAL },
	{ "a private mapping", .pages = AREA_PAGES, .flags = MAP_PRIVATE, .want = EINVAL },
};

FIXTURE(aux_mmap)
{
	struct aux_event event;
	size_t len;
};

#define AUX_FIXTURE aux_mmap
#define AUX_CHUNKS
#include "aux_variants.h"

FIXTURE_SETUP(aux_mmap)
{
	aux_use(variant->pmu);
	if (aux_missing())
		SKIP(return, "%s", aux_missing());
	ASSERT_EQ(aux_open_mapped(&self->event, NULL, 0, -1, DATA_PAGES), 0);
	self->len = AREA_PAGES * aux_page_size();
	ASSERT_EQ(aux_map_area(&self->event, self->len, PROT_READ | PROT_WRITE), 0);
}

FIXTURE_TEARDOWN(aux_mmap)
{
	aux_close(&self->event);
}

#define AUX_CHUNKS
#include "aux_fixture.h"

TEST_F(aux, errno_of_each_geometry_is_right)
{
	struct aux_event event = { };

	ASSERT_EQ(aux_open_mapped(&event, NULL, 0, -1, DATA_PAGES), 0);
	for (size_t i = 0; i < ARRAY_SIZE(geometries); i++) {
		typeof(*geometries) *g = &geometries[i];
		size_t len = g->pages * aux_page_size();
		uint64_t at = event.data_len + g->offset * (int64_t)aux_page_size();
		void *map;

		event.page->aux_offset = at + g->offset_off;
		event.page->aux_size = len + g->size_off;
		errno = 0;
		map = aux_map_raw(&event, at, len, PROT_READ | PROT_WRITE, g->flags ?: MAP_SHARED);
		EXPECT_EQ(errno, g->want)
			TH_LOG("%s", g->name);
		EXPECT_EQ(map == MAP_FAILED, !!g->want);
		if (map != MAP_FAILED)
			munmap(map, len);
		/* Whatever was refused, a good mapping is possible after it. */
		EXPECT_EQ(aux_map_area(&event, AREA_PAGES * aux_page_size(), PROT_READ), 0)
			TH_LOG("%s", g->name);
		aux_unmap_area(&event);
	}
	aux_close(&event);
}

TEST_F(aux, no_data_mapping_yet)
{
	struct aux_event event = { };
	struct perf_event_attr attr;

	aux_attr(&attr);
	event.fd = aux_open(&attr, 0, -1);
	ASSERT_GE(event.fd, 0);
	EXPECT_EQ(aux_map_raw(&event, 16 * aux_page_size(), aux_page_size(), PROT_READ,
			      MAP_SHARED), MAP_FAILED);
	EXPECT_EQ(errno, EINVAL);
	aux_close(&event);
}

TEST(pmu_without_aux_area)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY, .size = sizeof(attr),
		.exclude_kernel = 1,
	};
	struct aux_event event = { };

	if (aux_missing_events())
		SKIP(return, "%s", aux_missing_events());
	ASSERT_EQ(aux_open_mapped(&event, &attr, 0, -1, DATA_PAGES), 0);
	EXPECT_EQ(aux_map_area(&event, 4 * aux_page_size(), PROT_READ), -EOPNOTSUPP);
	aux_close(&event);
}

TEST_F(aux, inherited_on_all_cpus)
{
	struct aux_event event = { };
	struct perf_event_attr attr;

	aux_attr(&attr);
	attr.inherit = 1;
	event.fd = aux_open(&attr, 0, -1);
	ASSERT_GE(event.fd, 0);
	EXPECT_EQ(aux_map_data(&event, DATA_PAGES), -EINVAL);
	aux_close(&event);
}

TEST_F(aux, mlock_limit_of_unprivileged_user)
{
	struct rlimit none = { };
	struct aux_event event = { };

	if (aux_missing_users())
		SKIP(return, "%s", aux_missing_users());
	ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &none), 0);
	ASSERT_EQ(aux_become(NOBODY), 0);

	ASSERT_EQ(aux_open_mapped(&event, NULL, 0, -1, DATA_PAGES), 0);
	EXPECT_EQ(aux_map_area(&event, aux_beyond_allowance(), PROT_READ | PROT_WRITE), -EPERM);
	/* What was refused is not charged. */
	EXPECT_EQ(aux_map_area(&event, 4 * aux_page_size(), PROT_READ | PROT_WRITE), 0);
	aux_close(&event);
}

TEST_F(aux_mmap, second_mapping_must_be_the_same)
{
	struct aux_event *e = &self->event;
	void *first = e->area, *map;

	EXPECT_EQ(aux_map_area(e, self->len * 2, PROT_READ | PROT_WRITE), -EINVAL);
	EXPECT_EQ(aux_map_area(e, self->len / 2, PROT_READ | PROT_WRITE), -EINVAL);
	e->page->aux_offset = e->data_len + self->len;
	e->page->aux_size = self->len;
	EXPECT_EQ(aux_map_raw(e, e->data_len + self->len, self->len, PROT_READ, MAP_SHARED),
		  MAP_FAILED);
	EXPECT_EQ(errno, EINVAL);

	e->page->aux_offset = e->data_len;
	map = aux_map_raw(e, e->data_len, self->len, PROT_READ, MAP_SHARED);
	ASSERT_NE(map, MAP_FAILED);
	ASSERT_GT(aux_trace(e, ROUNDS), 0);
	EXPECT_EQ(memcmp(map, first, self->len), 0);
	EXPECT_EQ(munmap(map, self->len), 0);
	EXPECT_GT(aux_trace(e, ROUNDS), 0);
}

TEST_F(aux_mmap, no_splitting)
{
	char *area = self->event.area;
	size_t page = aux_page_size();

	EXPECT_EQ(munmap(area + page, page), -1);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(munmap(area, page), -1);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(munmap(area + self->len - page, page), -1);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(mprotect(area + page, page, PROT_READ), -1);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(mremap(area, self->len, page, 0), MAP_FAILED);
	EXPECT_GT(aux_trace(&self->event, ROUNDS), 0);
}

TEST_F(aux_mmap, no_growing)
{
	EXPECT_EQ(mremap(self->event.area, self->len, self->len * 2, MREMAP_MAYMOVE), MAP_FAILED);
}

TEST_F(aux_mmap, mremap_moves)
{
	struct aux_event *e = &self->event;
	void *target, *copy = malloc(self->len);
	size_t head = aux_trace(e, ROUNDS);

	ASSERT_GT(head, 0);
	ASSERT_NE(copy, NULL);
	memcpy(copy, e->area, self->len);
	target = mmap(NULL, self->len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(target, MAP_FAILED);

	ASSERT_EQ(mremap(e->area, self->len, self->len, MREMAP_MAYMOVE | MREMAP_FIXED, target),
		  target);
	e->area = target;
	EXPECT_EQ(memcmp(copy, target, self->len), 0);
	aux_set_tail(e, head);
	EXPECT_GT(aux_trace(e, ROUNDS), head);

	/* Counted once, however often it has moved. */
	aux_unmap_area(e);
	EXPECT_EQ(aux_map_area(e, self->len * 2, PROT_READ), 0);
	free(copy);
}

static sigjmp_buf back;

static void on_sigbus(int signal)
{
	siglongjmp(back, 1);
}

static bool write_is_sigbus(char *to)
{
	if (sigsetjmp(back, 1))
		return true;
	__atomic_store_n(to, 1, __ATOMIC_RELAXED);
	return false;
}

TEST_F(aux_mmap, writing_is_sigbus)
{
	char *area = self->event.area;
	size_t page = aux_page_size();

	signal(SIGBUS, on_sigbus);
	EXPECT_TRUE(write_is_sigbus(area));
	/* A page that was read before is mapped already. */
	EXPECT_EQ(aux_peek(area + page), 0);
	EXPECT_TRUE(write_is_sigbus(area + page));
	EXPECT_TRUE(write_is_sigbus(area + self->len - 1));
	EXPECT_EQ(aux_peek(area + self->len - 1), 0);
}

/* The mode is that of the mapping; more access than that has gives none to the pages. */
TEST_F(aux, mprotect_gives_no_write_access)
{
	size_t len = AREA_PAGES * aux_page_size();
	struct aux_event event = { };
	struct aux_log log = { };

	ASSERT_EQ(aux_open_mapped(&event, NULL, 0, -1, DATA_PAGES), 0);
	ASSERT_EQ(aux_map_area(&event, len, PROT_READ), 0);
	signal(SIGBUS, on_sigbus);
	for (unsigned int i = 0; i < 2; i++) {
		ASSERT_EQ(mprotect(event.area, len, PROT_READ | PROT_WRITE), 0);
		EXPECT_TRUE(write_is_sigbus(event.area));
		EXPECT_TRUE(write_is_sigbus(event.area + len - 1));
		EXPECT_EQ(aux_peek(event.area + len - 1), 0);
		/* The second time, with pages that were not accessible meanwhile */
		ASSERT_EQ(mprotect(event.area, len, PROT_NONE), 0);
	}
	ASSERT_EQ(mprotect(event.area, len, PROT_READ), 0);
	EXPECT_GT(aux_trace(&event, ROUNDS), 0);
	EXPECT_TRUE(aux_has_trace(event.area, len));
	aux_drain(&event, &log);
	EXPECT_EQ(log.flags_seen, PERF_AUX_FLAG_OVERWRITE);
	aux_close(&event);
}

/* Whether a mapping has a flag, of two letters, by Documentation/filesystems/proc.rst; or -1 */
static int has_flag(const void *at, const char *flag)
{
	FILE *file = fopen("/proc/self/smaps", "r");
	char line[512], begin[32];
	bool found = false;
	int has = -1;

	snprintf(begin, sizeof(begin), "%08lx-", (unsigned long)at);
	while (file && has < 0 && fgets(line, sizeof(line), file)) {
		found = found || !strncmp(line, begin, strlen(begin));
		if (found && !strncmp(line, "VmFlags:", 8))
			has = !!strstr(line, flag);
	}
	if (file)
		fclose(file);
	return has;
}

/* A core dump is not the place for megabytes of trace. */
TEST_F(aux_mmap, is_not_dumped)
{
	int dumped = has_flag(self->event.area, " dd");

	if (dumped < 0)
		SKIP(return, "no /proc/self/smaps: CONFIG_PROC_PAGE_MONITOR");
	EXPECT_EQ(dumped, 1);
}

/* Nobody takes references on pages of an area, nor advises the kernel to do without them. */
TEST_F(aux_mmap, lends_no_pages)
{
	static const int advice[] = {
		MADV_DONTNEED, MADV_COLD, MADV_PAGEOUT, MADV_POPULATE_READ, MADV_DOFORK,
	};
	struct iovec from = { .iov_base = self->event.area, .iov_len = 1 };
	char byte;
	struct iovec to = { .iov_base = &byte, .iov_len = 1 };
	int ends[2];

	if (has_flag(self->event.area, " pf") != 1)
		SKIP(return, "this kernel has a reference for each page that is mapped");
	EXPECT_EQ(process_vm_readv(getpid(), &to, 1, &from, 1, 0), -1);
	ASSERT_EQ(pipe(ends), 0);
	EXPECT_EQ(vmsplice(ends[1], &from, 1, 0), -1);
	EXPECT_EQ(errno, EFAULT);
	for (size_t i = 0; i < ARRAY_SIZE(advice); i++) {
		EXPECT_EQ(madvise(self->event.area, self->len, advice[i]), -1)
			TH_LOG("advice %d", advice[i]);
	}
	EXPECT_GT(aux_trace(&self->event, ROUNDS), 0);
}

/* In a child that inherits the file, but not the mapping. */
static int compare_in_child(struct aux_event *event, const void *copy)
{
	struct aux_event mine = { .fd = event->fd };

	if (aux_map_data(&mine, DATA_PAGES))
		return 1;
	if (aux_map_area(&mine, event->area_len, PROT_READ))
		return 2;
	return memcmp(mine.area, copy, mine.area_len) ? 3 : 0;
}

TEST_F(aux_mmap, second_mapping_in_another_process)
{
	struct aux_event *e = &self->event;
	void *copy = malloc(self->len);
	int status;
	pid_t pid;

	ASSERT_GT(aux_trace(e, ROUNDS), 0);
	ASSERT_NE(copy, NULL);
	memcpy(copy, e->area, self->len);
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid)
		_exit(compare_in_child(e, copy));
	ASSERT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);

	EXPECT_EQ(memcmp(e->area, copy, self->len), 0);
	EXPECT_GT(aux_trace(e, ROUNDS), 0);
	free(copy);
}

TEST_F(aux_mmap, readable_after_close)
{
	struct aux_event *e = &self->event;
	void *copy = malloc(self->len);

	ASSERT_GT(aux_trace(e, ROUNDS), 0);
	ASSERT_NE(copy, NULL);
	memcpy(copy, e->area, self->len / 2);
	close(e->fd);
	e->fd = -1;

	EXPECT_EQ(memcmp(e->area, copy, self->len / 2), 0);
	/* This half was never touched before. */
	EXPECT_EQ(aux_peek((char *)e->area + self->len - 1), 0);
	EXPECT_GT(aux_head(e), 0);
	free(copy);
}

TEST_HARNESS_MAIN
