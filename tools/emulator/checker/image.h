/* SPDX-License-Identifier: GPL-2.0-or-later */
/* image.h - the memory that the traced code was read from. */
#ifndef CHECKER_IMAGE_H
#define CHECKER_IMAGE_H

#include "sideband.h"

struct kernel_segment {
	uint64_t addr, size;
	uint8_t *data;
};

struct image_options {
	/* put before the names of mapped files; may be NULL */
	const char *symfs;
	/* pairs "NAME=FILE": read FILE where NAME is mapped */
	const char **replace;
	size_t nr_replace;
	/* ELF core image with the kernel's text; may be NULL */
	const char *kcore;
	/* what [vdso] holds for 64-bit and 32-bit processes; may be NULL */
	const char *vdso64, *vdso32;
};

struct image_file {
	char *name;
	struct mapped_file map;
	bool present;
};

/*
 * One image serves one walk at a time: the kernel's text follows the walk's clock (text pokes),
 * and user addresses mean what the walk's current process has there.
 */
struct image {
	struct image_options opt;
	struct mapped_file kcore_map;
	struct kernel_segment *kernel;
	size_t nr_kernel;
	struct image_file **files;
	size_t nr_files;
	struct side_state *state;
	/* the mapping that served last, as long as pid and generation are the same */
	uint64_t hit_start, hit_end, hit_generation;
	const uint8_t *hit_data;
	uint32_t hit_tid;
};

void image_init(struct image *img, const struct image_options *opt);
void image_free(struct image *img);
/* Kernel text as it was when recording began; reads follow state from now on. */
void image_start_walk(struct image *img, struct side_state *state);
/* Returns the number of bytes read, 0 if nothing is known about addr. */
size_t image_read(struct image *img, uint64_t addr, uint8_t *buffer, size_t size);

static inline bool is_kernel_addr(uint64_t addr)
{
	return addr >> 63;
}

#endif
