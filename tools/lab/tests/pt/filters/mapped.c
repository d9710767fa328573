// SPDX-License-Identifier: GPL-2.0-only
/* Filters of files: mapped already, mapped late, after exec, on overlayfs. */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "filters.h"

#define CODE		(PROT_READ | PROT_EXEC)
#define PATIENCE	20.0

/* Whether this task's trace has one filter, with these pages of the object. */
static bool holds(const struct object *object, __u64 offset, __u64 size)
{
	struct wish wish = {
		.nr = 1,
		.filter[0] = { FILTER, offset, size, object->dev, object->ino },
	};
	struct regs have, want;

	read_regs(0, &have);
	expect_regs(&wish, object, &want);
	return same_regs(&have, &want);
}

static const struct {
	const char *name;
	__u64 offset, size;
} parts[] = {
	{ "all of the file", 0, OBJECT_PAGES << 12 },
	{ "a function", 0x1800, 0x40 },
	{ "the first byte", 0x1000, 1 },
	{ "the last byte", 0x2fff, 1 },
	{ "what is mapped", 0x1000, 0x2000 },
	{ "up to the first byte", 0, 0x1001 },
	{ "from the last byte on", 0x2fff, 0x1000 },
	/* Nothing of it is mapped, and nothing may be traced. */
	{ "up to what is mapped", 0, 0x1000 },
	{ "from its end on", 0x3000, 0x1000 },
	{ "far from it", 0x4000, 0x100 },
};

/* Pages 1 and 2 are code. @late: they are mapped when the filter is there already. */
static void test_parts(struct aux_event *event, struct object *object, bool late)
{
	for (unsigned int i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		bool good;

		if (!late)
			map_object(object, 1, 2, CODE);
		good = !set_filter(event, "filter %#llx/%#llx@%s", parts[i].offset, parts[i].size,
				   object->path);
		if (late) {
			good = good && holds(object, parts[i].offset, parts[i].size);
			map_object(object, 1, 2, CODE);
		}
		point(good && holds(object, parts[i].offset, parts[i].size),
		      "a file that is mapped %s: %s", late ? "late" : "already", parts[i].name);
		unmap_object(object);
	}
}

/* The pages around the code are mapped, too, as linkers lay out files. */
static void test_neighbours(struct aux_event *event, struct object *object)
{
	size_t page = aux_page_size();
	char *at = mmap(NULL, 4 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct object more = *object;

	object->at = at;
	map_object(object, 0, 1, PROT_READ);
	object->at = at + page;
	map_object(object, 1, 2, CODE);
	point(!set_filter(event, "filter 0x1000/0x100@%s", object->path) &&
	      holds(object, 0x1000, 0x100), "the first function behind a file's read-only page");

	set_filter(event, "filter 0x2f00/0x100@%s", object->path);
	more.at = at + 3 * page;
	map_object(&more, 3, 1, CODE);
	point(holds(object, 0x2f00, 0x100), "the last function before code that is mapped later");
	munmap(at, page);
	unmap_object(&more);
	unmap_object(object);
}

void test_mapped(const char *directory)
{
	struct aux_event event = start_trace(0, -1);
	struct object object;
	char path[100];

	snprintf(path, sizeof(path), "%s/object", directory);
	object = make_object(path);
	test_parts(&event, &object, false);
	test_parts(&event, &object, true);
	test_neighbours(&event, &object);
	aux_close(&event);
}

static char *join(const char *directory, const char *name)
{
	static char path[100];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

/* The file is that of the overlay, not that of its layer. */
static void test_layer(struct aux_event *event, const char *path, const char *layer)
{
	struct object object = make_object(path);

	map_object(&object, 1, 2, CODE);
	point(!set_filter(event, "filter 0x1100/0x100@%s", path) && holds(&object, 0x1100, 0x100),
	      "overlayfs: a file of its %s layer, mapped already", layer);
	unmap_object(&object);
	set_filter(event, "filter 0x1100/0x80@%s", path);
	map_object(&object, 1, 2, CODE);
	point(holds(&object, 0x1100, 0x80), "overlayfs: a file of its %s layer, mapped late",
	      layer);
	unmap_object(&object);
}

/* Events are freed some time after they were closed. */
static bool can_be_unmounted(const char *path)
{
	double begin = aux_seconds();
	int ret;

	while ((ret = umount(path)) && errno == EBUSY && aux_seconds() - begin < PATIENCE)
		usleep(10000);
	return !ret;
}

void test_overlay(const char *directory)
{
	static const char * const parts[] = { "lower", "upper", "work", "merged" };
	struct aux_event event = start_trace(0, -1);
	char options[512];
	bool refused;
	int fd;

	for (unsigned int i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (mkdir(join(directory, parts[i]), 0755))
			err(1, "%s/%s", directory, parts[i]);
	make_object(join(directory, "lower/old"));
	snprintf(options, sizeof(options), "lowerdir=%s/lower,upperdir=%s/upper,workdir=%s/work",
		 directory, directory, directory);
	if (mount("overlay", join(directory, "merged"), "overlay", 0, options))
		err(1, "overlayfs");
	/* Not to be written: it would be copied up. */
	fd = open(join(directory, "merged/old"), O_RDONLY);
	test_layer(&event, join(directory, "merged/new"), "upper");
	test_layer(&event, join(directory, "merged/old"), "lower");
	close(fd);
	/* Filters keep their files: as long as they are there, and no longer. */
	refused = umount(join(directory, "merged")) && errno == EBUSY;
	aux_close(&event);
	point(refused && can_be_unmounted(join(directory, "merged")),
	      "overlayfs: it is in use as long as a filter is of its files");
}

static void copy_self(const char *path)
{
	int from = open("/proc/self/exe", O_RDONLY), to = open(path, O_WRONLY | O_CREAT, 0755);
	ssize_t len;

	do
		len = sendfile(to, from, NULL, 1 << 20);
	while (len > 0);
	if (len)
		err(1, "%s", path);
	close(from);
	close(to);
}

/* The code of a process, from its list of mappings; false: it has none of this file. */
static bool find_code(pid_t pid, const char *path, struct object *object)
{
	char name[64], line[512];
	struct stat status;
	bool found = false;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	file = fopen(name, "r");
	while (file && !found && fgets(line, sizeof(line), file)) {
		unsigned long from, to, offset;

		found = strstr(line, path) && !stat(path, &status) &&
			sscanf(line, "%lx-%lx r-xp %lx", &from, &to, &offset) == 3;
		if (found)
			*object = (struct object) { .dev = status.st_dev, .ino = status.st_ino,
						    .at = (char *)from, .offset = offset,
						    .len = to - from };
	}
	if (file)
		fclose(file);
	return found;
}

/* A child that works on CPU 1, and becomes another program when it is told. */
static pid_t start_child(volatile bool *go, const char *path)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	aux_pin(0, 1);
	while (!*go)
		;
	execl(path, path, "spin", NULL);
	_exit(1);
}

static bool traced_on_cpu_1(const struct wish *wish, const struct object *object)
{
	double begin = aux_seconds();
	struct regs have, want;
	bool same;

	expect_regs(wish, object, &want);
	/* It may just be mapping what is wanted. */
	do {
		read_regs(1, &have);
		same = !memcmp(&have, &want, sizeof(have));
	} while (!same && aux_seconds() - begin < PATIENCE / 4);
	return same || same_regs(&have, &want);
}

static struct wish wish_of(const char *path, __u64 from, __u64 size)
{
	struct stat status;

	stat(path, &status);
	return (struct wish) {
		.nr = 1, .filter[0] = { FILTER, from, size, status.st_dev, status.st_ino },
	};
}

void test_exec(const char *directory)
{
	volatile bool *go = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
				 -1, 0);
	const __u64 size = 1UL << 30, from = 0x1800, part = 0x100;
	char old[128] = "", new[128];
	struct object code = { };
	struct aux_event event;
	struct wish both;
	double begin;
	pid_t pid;

	if (readlink("/proc/self/exe", old, sizeof(old) - 1) < 0)
		err(1, "/proc/self/exe");
	snprintf(new, sizeof(new), "%s", join(directory, "copy"));
	copy_self(new);
	pid = start_child(go, new);
	event = start_trace(pid, -1);
	both = wish_of(old, from, part);
	both.filter[1] = wish_of(new, 0, size).filter[0];
	both.nr = 2;
	set_filter(&event, "filter %#llx/%#llx@%s, filter 0/%#llx@%s", from, part, old, size,
		   new);
	point(find_code(pid, old, &code) && traced_on_cpu_1(&both, &code),
	      "exec: a function of the program before it");
	*go = true;
	begin = aux_seconds();
	while (!find_code(pid, new, &code) && aux_seconds() - begin < PATIENCE)
		usleep(1000);
	point(traced_on_cpu_1(&both, &code),
	      "exec: the program after it, and nothing of the one before");
	aux_close(&event);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
