// SPDX-License-Identifier: GPL-2.0-or-later
/* symbols.c - reads a System.map and finds the symbol that an address lies in. */
#include "symbols.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

struct symbol {
	uint64_t addr;
	char *name;
};

static struct symbol *symbols;
static size_t nr_symbols;

static int by_addr(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

void symbols_load(const char *path)
{
	FILE *file = fopen(path, "r");
	char name[256], type;
	uint64_t addr;

	if (!file)
		die("%s: %s", path, strerror(errno));
	while (fscanf(file, "%" SCNx64 " %c %255s", &addr, &type, name) == 3) {
		struct symbol *sym = array_add(symbols, nr_symbols);

		sym->addr = addr;
		sym->name = xasprintf("%s", name);
	}
	fclose(file);
	if (!nr_symbols)
		die("%s: not a System.map", path);
	qsort(symbols, nr_symbols, sizeof(*symbols), by_addr);
}

void symbol_format(uint64_t addr, char *text, size_t size)
{
	size_t low = 0, high = nr_symbols;

	text[0] = 0;
	while (low < high) {
		size_t mid = (low + high) / 2;

		if (symbols[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (low && addr >> 63)
		snprintf(text, size, "%s+0x%" PRIx64, symbols[low - 1].name,
			 addr - symbols[low - 1].addr);
}
