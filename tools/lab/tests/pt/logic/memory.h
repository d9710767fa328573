/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that the driver believes to be physical: addresses that a test chooses,
 * chunks of any order, allocations that fail.
 */
#ifndef MEMORY_H
#define MEMORY_H

#include <linux/mm.h>

#include <asm/io.h>

#define MEMORY_SIZE	(1UL << 35)

/* Forget all pages; the first byte of memory has this physical address. */
void memory_reset(u64 physical);
/* The first page of a chunk, of which each 2^@order pages are contiguous. */
void *memory_chunk(unsigned int order);
/* From now on, let the @nth allocation fail; 0: none. */
void memory_fail(unsigned int nth);
/* Allocations that were not freed. */
unsigned int memory_in_use(void);
/* The node that was asked for last. */
extern int memory_node;
/* Whether a physical range is memory that there is. */
bool memory_has(u64 physical, u64 size);

#endif
