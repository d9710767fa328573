// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fuzzer of AUX areas: fewer steps, with smaller choices, that do the same harm.
 *
 * A kernel that was harmed is no place for the next attempt, and may not live so long. So
 * all that is known is in files, and a new machine goes on:
 *
 *	best		steps that do harm; at first all that ran before it was found
 *	finding		what it is
 *	attempt		steps that are being tried; if they are there at the start, they have
 *			ended the machine
 *	next		number of the change that is tried next; it is 0 after each success
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "aux_fuzz.h"
#include "aux_util.h"

/* Statuses of the program */
enum { SMALLEST = 0, BAD_FILES = 2, GO_ON = 3, NOT_AGAIN = 4 };

static long read_number(const char *path)
{
	FILE *file = fopen(path, "r");
	long number = -1;

	if (file) {
		if (fscanf(file, "%ld", &number) != 1)
			number = -1;
		fclose(file);
	}
	return number;
}

static void write_number(const char *path, long number)
{
	FILE *file = fopen(path, "w");

	if (file) {
		fprintf(file, "%ld\n", number);
		fclose(file);
	}
}

/* How a step can be made simpler, beside each of its choices */
#define CHANGES		3

/* Change NUMBER of a step; false: that is no change. */
static bool simplify(struct fuzz_step *step, unsigned int number)
{
	static const uint16_t none[FUZZ_CHOICES];

	switch (number) {
	case 0:
		if (!memcmp(step->choices, none, sizeof(none)))
			return false;
		memset(step->choices, 0, sizeof(none));
		return true;
	case 1:
		if (!step->fail && !step->beside)
			return false;
		step->fail = 0;
		step->beside = 0;
		return true;
	case 2:
		if (step->beside < 2)
			return false;
		step->beside = 1;
		return true;
	default:
		if (!step->choices[number - CHANGES])
			return false;
		step->choices[number - CHANGES] = 0;
		return true;
	}
}

/*
 * Change NUMBER of a list: first those that drop one half of the steps, one quarter, and so
 * on to a single one, the last steps first; then those of each step.
 *
 * Return: 1 if it was made, 0 if it changes nothing, -1 if there is none of that number
 */
static int change(struct fuzz_list *list, size_t number)
{
	for (size_t chunk = (list->count + 1) / 2; ; chunk = (chunk + 1) / 2) {
		size_t places = (list->count + chunk - 1) / chunk;

		if (number < places) {
			size_t at = (places - 1 - number) * chunk;
			size_t count = chunk < list->count - at ? chunk : list->count - at;

			/* The first step says which PMU it is. */
			if (!at) {
				at++;
				count--;
			}
			fuzz_drop(list, at, count);
			return count > 0;
		}
		number -= places;
		if (chunk <= 1)
			break;
	}
	if (number >= list->count * (FUZZ_CHOICES + CHANGES))
		return -1;
	return simplify(&list->steps[number / (FUZZ_CHOICES + CHANGES)],
			number % (FUZZ_CHOICES + CHANGES));
}

static const char *try_list(const struct fuzz_list *list, unsigned int times, const char *wanted,
			    struct fuzz_shared *shared)
{
	const char *found = NULL;

	aux_write_file("/sys/kernel/debug/clear_warn_once", "1");
	for (unsigned int i = 0; i < times && !found; i++) {
		found = fuzz_run_in_child(list, shared);
		found = found ?: fuzz_check();
	}
	if (!found && !strcmp(wanted, FUZZ_PAGES_LOST))
		found = fuzz_check_memory();
	if (found)
		printf("%zu steps: %s\n", list->count, found);
	return found;
}

static bool read_line(const char *path, char *line, size_t room)
{
	FILE *file = fopen(path, "r");
	bool is_there = file && fgets(line, room, file);

	if (file)
		fclose(file);
	line[is_there ? strcspn(line, "\n") : 0] = 0;
	return is_there;
}

/* Where a complaint names a function, that; else all of it, up to an address or numbers. */
static size_t place_in(const char *text, const char **place)
{
	const char *end = strstr(text, "+0x"), *at = end;

	if (!end) {
		*place = text;
		end = strstr(text, "address: ");
		return end ? (size_t)(end - text) : strcspn(text, "0123456789");
	}
	while (at > text && at[-1] != ' ')
		at--;
	*place = at;
	return end - at;
}

/* The kind of a complaint is its first word or two, such as "BUG: KASAN:". */
static size_t kind_in(const char *text)
{
	size_t first = strcspn(text, " ");

	return first + (text[first] ? 1 + strcspn(text + first + 1, " ") : 0);
}

/*
 * Whether two complaints are the same but for numbers. Where timing decides which function uses
 * memory that was freed too early, KASAN names another one each time.
 */
static bool is_same(const char *one, const char *other)
{
	static const char kasan[] = "BUG: KASAN:";
	size_t kind = kind_in(one), len;
	const char *first, *second;

	if (kind != kind_in(other) || strncmp(one, other, kind))
		return false;
	if (!strncmp(one, kasan, strlen(kasan)))
		return true;
	len = place_in(one, &first);
	return len == place_in(other, &second) && !strncmp(first, second, len);
}

/* Try the changes from a number on, until one does the same harm, or for some time. */
static int try_changes(const struct fuzz_list *best, unsigned int times, const char *wanted,
		       struct fuzz_shared *shared, double end)
{
	long number = read_number("next");
	struct fuzz_list list = { };
	int made;

	for (number = number < 0 ? 0 : number; aux_seconds() < end; number++) {
		const char *found;

		list.count = 0;
		fuzz_append(&list, best->steps, best->count);
		made = change(&list, number);
		if (made < 0)
			return SMALLEST;
		if (!made)
			continue;
		write_number("next", number + 1);
		if (fuzz_save(&list, "attempt"))
			return BAD_FILES;
		found = try_list(&list, times, wanted, shared);
		if (found && is_same(found, wanted)) {
			write_number("next", 0);
			return rename("attempt", "best") ? BAD_FILES : GO_ON;
		}
		unlink("attempt");
		/* Another harm: the machine is not as it was. */
		if (found)
			break;
	}
	return GO_ON;
}

/*
 * Return: as a status of the program: it is as small as can be; files are missing; another
 * machine has to go on; it has done no harm this time
 */
int fuzz_shrink(const char *directory, unsigned int times, double seconds)
{
	struct fuzz_shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
					  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char wanted[FUZZ_MAX_TEXT];
	double end = aux_seconds() + seconds;
	struct fuzz_list best = { };

	if (chdir(directory) || shared == MAP_FAILED)
		return BAD_FILES;
	if (!access("attempt", F_OK)) {
		write_number("next", 0);
		rename("attempt", "best");
	}
	if (fuzz_load(&best, "best") || !read_line("finding", wanted, sizeof(wanted)))
		return BAD_FILES;
	fuzz_check_memory();
	if (read_number("next") < 0) {
		const char *found;

		found = try_list(&best, times, wanted, shared);
		if (!found || !is_same(found, wanted))
			return NOT_AGAIN;
		write_number("next", 0);
		return GO_ON;
	}
	return try_changes(&best, times, wanted, shared, end);
}
