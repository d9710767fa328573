// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vdsodump.c - writes the vdso that the kernel maps into this process to a file: a decoder of
 * traces needs its code, and no file on disk has it.
 */
#include <string.h>

#include "check.h"

int main(int argc, char **argv)
{
	unsigned long start = 0, end = 0;
	char line[512];
	FILE *mappings, *out;

	if (argc != 2) {
		fprintf(stderr, "usage: %s FILE\n", argv[0]);
		return 1;
	}
	mappings = fopen("/proc/self/maps", "r");
	CHECK(mappings);
	while (!end && fgets(line, sizeof(line), mappings)) {
		if (strstr(line, "[vdso]"))
			sscanf(line, "%lx-%lx", &start, &end);
	}
	fclose(mappings);
	CHECK(start && end > start);
	out = fopen(argv[1], "wb");
	CHECK(out);
	CHECK(fwrite((void *)start, end - start, 1, out) == 1);
	CHECK(!fclose(out));
	return 0;
}
