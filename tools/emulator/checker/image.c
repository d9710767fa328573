// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * image.c - answers "which bytes stood at this address": user code from the mapped files, the
 * vdso from a dump, the kernel from the core image that perf record --kcore kept.
 */
#include "image.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void load_kernel(struct image *img)
{
	const Elf64_Ehdr *ehdr;
	const Elf64_Phdr *phdr;
	size_t i;

	free(img->kernel);
	img->kernel = NULL;
	img->nr_kernel = 0;
	unmap_file(&img->kcore_map);
	if (!img->opt.kcore)
		return;
	if (!map_file(img->opt.kcore, &img->kcore_map))
		die("%s: %s", img->opt.kcore, strerror(errno));
	ehdr = (const void *)img->kcore_map.data;
	if (img->kcore_map.size < sizeof(*ehdr) || memcmp(ehdr->e_ident, ELFMAG, SELFMAG) ||
	    ehdr->e_phoff > img->kcore_map.size ||
	    ehdr->e_phnum * sizeof(*phdr) > img->kcore_map.size - ehdr->e_phoff)
		die("%s: not a usable 64-bit ELF core file", img->opt.kcore);
	phdr = (const void *)(img->kcore_map.data + ehdr->e_phoff);
	for (i = 0; i < ehdr->e_phnum; i++) {
		struct kernel_segment *seg;

		if (phdr[i].p_type != PT_LOAD || phdr[i].p_offset > img->kcore_map.size ||
		    phdr[i].p_filesz > img->kcore_map.size - phdr[i].p_offset)
			continue;
		seg = array_add(img->kernel, img->nr_kernel);
		seg->addr = phdr[i].p_vaddr;
		seg->size = phdr[i].p_filesz;
		seg->data = img->kcore_map.data + phdr[i].p_offset;
	}
}

void image_init(struct image *img, const struct image_options *opt)
{
	memset(img, 0, sizeof(*img));
	img->opt = *opt;
}

void image_free(struct image *img)
{
	size_t i;

	for (i = 0; i < img->nr_files; i++) {
		unmap_file(&img->files[i]->map);
		free(img->files[i]->name);
		free(img->files[i]);
	}
	free(img->files);
	free(img->kernel);
	unmap_file(&img->kcore_map);
}

static struct kernel_segment *find_kernel(struct image *img, uint64_t addr)
{
	size_t i;

	for (i = 0; i < img->nr_kernel; i++)
		if (addr >= img->kernel[i].addr && addr - img->kernel[i].addr < img->kernel[i].size)
			return &img->kernel[i];
	return NULL;
}

static void poke_kernel(const struct side_event *ev, void *arg)
{
	struct kernel_segment *seg = find_kernel(arg, ev->addr);

	if (seg && ev->len <= seg->size - (ev->addr - seg->addr))
		memcpy(seg->data + (ev->addr - seg->addr), ev->bytes, ev->len);
}

void image_start_walk(struct image *img, struct side_state *state)
{
	load_kernel(img);
	img->state = state;
	img->hit_end = 0;
	img->hit_start = 0;
	state->poke = poke_kernel;
	state->poke_arg = img;
}

static const struct image_file *get_file(struct image *img, const char *name)
{
	struct image_file *file, **slot;
	size_t i;

	for (i = 0; i < img->nr_files; i++)
		if (!strcmp(img->files[i]->name, name))
			return img->files[i];
	file = xalloc(sizeof(*file));
	file->name = xasprintf("%s", name);
	file->present = map_file(name, &file->map);
	slot = array_add(img->files, img->nr_files);
	*slot = file;
	if (!file->present)
		warn("%s: %s; code in it cannot be decoded", name, strerror(errno));
	return file;
}

/* The file on this machine for a name in the traced one; to be freed. */
static char *local_name(const struct image_options *opt, const char *name)
{
	size_t i, len = strlen(name);

	for (i = 0; i < opt->nr_replace; i++)
		if (!strncmp(opt->replace[i], name, len) && opt->replace[i][len] == '=')
			return xasprintf("%s", opt->replace[i] + len + 1);
	return xasprintf("%s%s", opt->symfs ? opt->symfs : "", name);
}

static const struct image_file *file_of_map(struct image *img, const struct code_map *map,
					    uint64_t *file_start)
{
	const struct image_file *file;
	const char *name;
	char *path;

	*file_start = map->pgoff;
	if (!strcmp(map->name, "[vdso]")) {
		*file_start = 0;
		name = map->addr > UINT32_MAX ? img->opt.vdso64 : img->opt.vdso32;
		return name ? get_file(img, name) : NULL;
	}
	if (map->name[0] != '/' || !strncmp(map->name, "//anon", 6))
		return NULL;
	path = local_name(&img->opt, map->name);
	file = get_file(img, path);
	free(path);
	return file;
}

static bool find_user(struct image *img, uint64_t addr)
{
	struct side_state *st = img->state;
	const struct image_file *file;
	const struct code_map *map;
	struct code_map scratch;
	uint64_t start, len;

	map = side_state_find(st, side_state_pid(st), addr, &scratch);
	if (!map)
		return false;
	file = file_of_map(img, map, &start);
	if (!file || !file->present || start >= file->map.size)
		return false;
	len = map->len < file->map.size - start ? map->len : file->map.size - start;
	if (addr - map->addr >= len)
		return false;
	img->hit_start = map->addr;
	img->hit_end = map->addr + len;
	img->hit_data = file->map.data + start;
	img->hit_tid = st->tid;
	img->hit_generation = st->generation;
	return true;
}

static bool find_segment(struct image *img, uint64_t addr)
{
	const struct kernel_segment *seg;

	if (addr >= img->hit_start && addr < img->hit_end &&
	    (is_kernel_addr(addr) || (img->hit_tid == img->state->tid &&
				      img->hit_generation == img->state->generation)))
		return true;
	if (!is_kernel_addr(addr))
		return find_user(img, addr);
	seg = find_kernel(img, addr);
	if (!seg)
		return false;
	img->hit_start = seg->addr;
	img->hit_end = seg->addr + seg->size;
	img->hit_data = seg->data;
	return true;
}

size_t image_read(struct image *img, uint64_t addr, uint8_t *buffer, size_t size)
{
	size_t done = 0;

	/* An instruction may lie across two mappings. */
	while (done < size && find_segment(img, addr + done)) {
		uint64_t room = img->hit_end - (addr + done);
		size_t part = size - done < room ? size - done : room;

		memcpy(buffer + done, img->hit_data + (addr + done - img->hit_start), part);
		done += part;
	}
	return done;
}
