/* SPDX-License-Identifier: GPL-2.0-or-later */
/* symbols.h - names for kernel addresses in messages. */
#ifndef CHECKER_SYMBOLS_H
#define CHECKER_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

/* A System.map; without one, addresses have no names. */
void symbols_load(const char *path);
void symbol_format(uint64_t addr, char *text, size_t size);

#endif
