/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __PERF_SNAPSHOT_SIZE_H
#define __PERF_SNAPSHOT_SIZE_H

#include <stdio.h>

#include "auxtrace.h"
#include "debug.h"
#include "units.h"

/**
 * snapshot_size__parse - give a PMU the size of its snapshots
 * @itr: the recording, which has parse_snapshot_options()
 * @opts: what that sets
 * @str: a number of bytes or, with a suffix as for -m, of a larger unit;
 *       empty for the PMU's default
 *
 * PMUs read a number of bytes only, in any base.
 *
 * Return: 0, or a negative error after a message
 */
static inline int snapshot_size__parse(struct auxtrace_record *itr,
				       struct record_opts *opts,
				       const char *str)
{
	static struct parse_tag tags[] = {
		{ .tag = 'B', .mult = 1 },
		{ .tag = 'K', .mult = 1 << 10 },
		{ .tag = 'M', .mult = 1 << 20 },
		{ .tag = 'G', .mult = 1 << 30 },
		{ .tag = 0 },
	};
	unsigned long size = parse_tag_value(str, tags);
	char bytes[24];
	int err;

	snprintf(bytes, sizeof(bytes), "%lu", size);
	err = itr->parse_snapshot_options(itr, opts, size == -1UL ? str : bytes);
	if (err)
		pr_err("Bad snapshot size '%s': use for example -S64K or -S0x10000\n", str);
	return err;
}

#endif /* __PERF_SNAPSHOT_SIZE_H */
