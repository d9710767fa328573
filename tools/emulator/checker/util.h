/* SPDX-License-Identifier: GPL-2.0-or-later */
/* util.h - what every checker needs: errors, memory, growing arrays. */
#ifndef CHECKER_UTIL_H
#define CHECKER_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof(*(a)))
#define BIT_ULL(n)	(1ULL << (n))
/* The first argument is a format, the others go with it. */
#define FORMAT		__attribute__((format(printf, 1, 2)))

/* One line on stderr that starts with the program's name, then exit status 1. */
FORMAT _Noreturn void die(const char *fmt, ...);
FORMAT void warn(const char *fmt, ...);
void util_set_name(const char *name);

void *xalloc(size_t size);
void *xrealloc(void *old, size_t size);
FORMAT char *xasprintf(const char *fmt, ...);

/*
 * Room for one more element in a growing array: "array" has "nr" elements; the space doubles
 * whenever nr reaches a power of two, so that no capacity has to be kept. Yields its address.
 */
void *array_grow(void *array, size_t nr, size_t element);
#define array_add(array, nr) \
	((array) = array_grow((array), (nr), sizeof(*(array))), &(array)[(nr)++])

/* A file mapped privately: reads see the file, writes stay in this process. */
struct mapped_file {
	uint8_t *data;
	size_t size;
};

/* Returns false with errno set; an empty file maps to size 0 and data NULL. */
bool map_file(const char *path, struct mapped_file *out);
void unmap_file(struct mapped_file *file);

/* A decimal or 0x number that fills the whole string. */
bool parse_u64(const char *text, uint64_t *value);

#endif
