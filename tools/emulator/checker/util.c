// SPDX-License-Identifier: GPL-2.0-or-later
/* util.c - errors, memory, growing arrays and mapped files for the checkers. */
#define _GNU_SOURCE
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *program = "checker";

void util_set_name(const char *name)
{
	program = name;
}

static void complain(const char *fmt, va_list args)
{
	fflush(stdout);
	fprintf(stderr, "%s: ", program);
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
}

void die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	complain(fmt, args);
	va_end(args);
	exit(1);
}

void warn(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	complain(fmt, args);
	va_end(args);
}

void *xalloc(size_t size)
{
	void *p = calloc(1, size ? size : 1);

	if (!p)
		die("out of memory (%zu bytes)", size);
	return p;
}

void *xrealloc(void *old, size_t size)
{
	void *p = realloc(old, size ? size : 1);

	if (!p)
		die("out of memory (%zu bytes)", size);
	return p;
}

char *xasprintf(const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		die("out of memory");
	va_end(args);
	return text;
}

void *array_grow(void *array, size_t nr, size_t element)
{
	size_t room = nr ? nr * 2 : 4;

	/* Four elements at first; afterwards only a power of two can mean "full". */
	if (nr && (nr < 4 || (nr & (nr - 1))))
		return array;
	return xrealloc(array, room * element);
}

bool map_file(const char *path, struct mapped_file *out)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	memset(out, 0, sizeof(*out));
	if (fd < 0)
		return false;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		errno = errno ? errno : EINVAL;
		close(fd);
		return false;
	}
	out->size = st.st_size;
	if (out->size) {
		out->data = mmap(NULL, out->size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
		if (out->data == MAP_FAILED) {
			close(fd);
			return false;
		}
	}
	close(fd);
	return true;
}

void unmap_file(struct mapped_file *file)
{
	if (file->data)
		munmap(file->data, file->size);
	memset(file, 0, sizeof(*file));
}

bool parse_u64(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	return !errno && end != text && !*end && *text != '-';
}
