// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a string of filters means, written down once more: words between blanks,
 * commas and ends of lines, in pairs of an action and a place. A place is
 *
 *	ADDRESS[/SIZE]		of the kernel
 *	OFFSET[/SIZE]@FILE	of a file, which ends with the word
 *
 * Numbers are as in C. The first thing that is wrong decides on the errno.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "filters.h"

#define BLANKS	" ,\n"

struct place {
	__u64 offset, size;
	const char *file;
	int error;
};

/* A number and what is behind it; NULL: it is none. */
static const char *parse_number(const char *text, __u64 *value, int *error)
{
	char *end;

	/* strtoull() likes blanks and signs. */
	if (*text < '0' || *text > '9')
		return NULL;
	errno = 0;
	*value = strtoull(text, &end, 0);
	if (errno == ERANGE && !*error)
		*error = -ERANGE;
	return end;
}

static bool parse_place(const char *text, struct place *place)
{
	*place = (struct place) { };
	text = parse_number(text, &place->offset, &place->error);
	if (text && *text == '/')
		text = parse_number(text + 1, &place->size, &place->error);
	if (!text)
		return false;
	if (*text == '@')
		place->file = text + 1;
	return place->file ? *place->file : !*text;
}

static bool parse_action(const char *text, enum action *action)
{
	static const char * const names[] = {
		[FILTER] = "filter", [STOP] = "stop", [START] = "start",
	};

	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!strcmp(text, names[i])) {
			*action = i;
			return true;
		}
	}
	return false;
}

/* Take one more filter into account. */
static int add(struct wish *wish, enum action action, const struct place *place, bool per_task)
{
	struct stat status = { };

	if (place->error)
		return place->error;
	if (action == FILTER && !place->size)
		return -EINVAL;
	if (place->file && !per_task)
		return -EOPNOTSUPP;
	if (place->file && stat(place->file, &status))
		return -errno;
	if (place->file && !S_ISREG(status.st_mode))
		return -EINVAL;
	if (wish->nr < MOST_RANGES) {
		wish->filter[wish->nr].action = action;
		wish->filter[wish->nr].offset = place->offset;
		wish->filter[wish->nr].size = place->size;
		wish->filter[wish->nr].dev = status.st_dev;
		wish->filter[wish->nr].ino = status.st_ino;
	}
	wish->nr++;
	return 0;
}

int parse(const char *text, bool per_task, unsigned int ranges, struct wish *wish)
{
	char copy[4096], *word, *rest = NULL;
	bool possible = true;
	enum action action;
	struct place place;
	int error = 0;

	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
		return -EINVAL;
	wish->nr = 0;
	for (word = strtok_r(copy, BLANKS, &rest); word && !error;
	     word = strtok_r(NULL, BLANKS, &rest)) {
		if (!parse_action(word, &action))
			return -EINVAL;
		word = strtok_r(NULL, BLANKS, &rest);
		if (!word || !parse_place(word, &place))
			return -EINVAL;
		error = add(wish, action, &place, per_task);
		possible = possible && place.size && action != START;
	}
	if (error)
		return error;
	return possible && wish->nr <= ranges ? 0 : -EOPNOTSUPP;
}

static bool is_canonical(__u64 address)
{
	return address <= LOW_END || address >= HIGH_BEGIN;
}

/* From and to, both traced; or a place where there is no code. */
static void expect_range(struct regs *regs, unsigned int nr, __u64 from, __u64 size)
{
	__u64 to = size - 1 > ~from ? ~0UL : from + size - 1;

	if (!is_canonical(from))
		from = HIGH_BEGIN;
	if (!is_canonical(to))
		to = LOW_END;
	regs->from[nr] = from <= to ? from : -4096UL;
	regs->to[nr] = from <= to ? to : -4096UL;
}

/* The part of a file that is mapped */
static void expect_file_range(struct regs *regs, unsigned int nr, const struct object *object,
			      __u64 offset, __u64 size)
{
	__u64 from = offset > object->offset ? offset : object->offset;
	__u64 end = object->offset + object->len;

	if (offset + size < end)
		end = offset + size;
	regs->from[nr] = -4096UL;
	regs->to[nr] = -4096UL;
	if (object->at && from < end) {
		regs->from[nr] = (__u64)object->at + from - object->offset;
		regs->to[nr] = regs->from[nr] + (end - from) - 1;
	}
}

void expect_regs(const struct wish *wish, const struct object *object, struct regs *regs)
{
	struct object none = { };

	*regs = (struct regs) { .on = true };
	for (unsigned int i = 0; i < wish->nr; i++) {
		bool same = object && wish->filter[i].dev == object->dev &&
			    wish->filter[i].ino == object->ino;

		regs->config[i] = wish->filter[i].action == FILTER ? 1 : 2;
		if (wish->filter[i].ino)
			expect_file_range(regs, i, same ? object : &none,
					  wish->filter[i].offset, wish->filter[i].size);
		else
			expect_range(regs, i, wish->filter[i].offset, wish->filter[i].size);
	}
}
