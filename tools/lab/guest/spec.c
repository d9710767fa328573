// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reader of the specification of a run: "key=value" items, each ended by a
 * NUL byte, as tools/lab/lib/lab/compiling/guest.py writes them. NUL, because it is the one
 * byte that no argument and no path can contain.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest.h"

static int append(char **list, char *value)
{
	int n = 0;

	while (list[n])
		n++;
	if (n == SPEC_MAX - 1)
		return -1;
	list[n] = value;
	return 0;
}

static int add_share(struct spec *spec, char *value)
{
	char *colon = strchr(value, ':');

	if (!colon || spec->nr_shares == (int)(sizeof(spec->share) / sizeof(spec->share[0])))
		return -1;
	*colon = '\0';
	spec->tag[spec->nr_shares] = value;
	spec->share[spec->nr_shares++] = colon + 1;
	return 0;
}

static int add_group(struct spec *spec, const char *value)
{
	if (spec->nr_groups == (int)(sizeof(spec->groups) / sizeof(spec->groups[0])))
		return -1;
	spec->groups[spec->nr_groups++] = strtoul(value, NULL, 10);
	return 0;
}

static int set_tty(struct spec *spec, const char *value)
{
	spec->tty = 1;
	return sscanf(value, "%d %d", &spec->rows, &spec->cols) == 2 ? 0 : -1;
}

static int spec_item(struct spec *spec, char *item)
{
	char *value = strchr(item, '=');

	if (!value)
		return -1;
	*value++ = '\0';

	if (!strcmp(item, "arg"))
		return append(spec->argv, value);
	if (!strcmp(item, "env"))
		return append(spec->envp, value);
	if (!strcmp(item, "share"))
		return add_share(spec, value);
	if (!strcmp(item, "group"))
		return add_group(spec, value);
	if (!strcmp(item, "tty"))
		return set_tty(spec, value);
	if (!strcmp(item, "coverage"))
		spec->coverage = value;
	else if (!strcmp(item, "cwd"))
		spec->cwd = value;
	else if (!strcmp(item, "uid"))
		spec->uid = strtoul(value, NULL, 10);
	else if (!strcmp(item, "gid"))
		spec->gid = strtoul(value, NULL, 10);
	else
		return -1;
	return 0;
}

/* The text stays allocated: @spec points into it. */
static char *read_file(const char *path, size_t *size)
{
	struct stat st;
	char *text;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		return NULL;
	text = malloc(st.st_size + 1);
	if (text && read(fd, text, st.st_size) == st.st_size)
		text[st.st_size] = '\0';
	else
		text = NULL;
	close(fd);
	*size = st.st_size;
	return text;
}

int spec_read(struct spec *spec, const char *path)
{
	char *text, *item;
	size_t size;

	memset(spec, 0, sizeof(*spec));
	text = read_file(path, &size);
	if (!text)
		return -1;
	for (item = text; item < text + size; ) {
		char *next = item + strlen(item) + 1;

		if (spec_item(spec, item)) {
			errno = EINVAL;
			return -1;
		}
		item = next;
	}
	errno = EINVAL;
	return spec->argv[0] && spec->cwd ? 0 : -1;
}
