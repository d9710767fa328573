/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __PERF_SNAPSHOT_SIZE_H
#define __PERF_SNAPSHOT_SIZE_H

#include <limits.h>
#include <stdio.h>

#include <linux/sizes.h>

#include "auxtrace.h"
#include "debug.h"
#include "units.h"

/**
 * snapshot_size__parse - give a PMU the size of its snapshots
 * @recording: has parse_snapshot_options(), which reads bytes only, in any base
 * @to: the options to set
 * @text: a number of bytes or, with a suffix as for -m, of a larger unit; empty
 *        for the PMU's default
 *
 * Return: 0, or a negative error after a message
 */
static inline int snapshot_size__parse(struct auxtrace_record *recording,
				       struct record_opts *to, const char *text)
{
	struct parse_tag units[] = {
		{ 'G', SZ_1G }, { 'M', SZ_1M }, { 'K', SZ_1K }, { 'B', 1 }, { }
	};
	unsigned long size = parse_tag_value(text, units);
	char bytes[24];
	int err;

	snprintf(bytes, sizeof(bytes), "%lu", size);
	err = recording->parse_snapshot_options(recording, to,
						size == ULONG_MAX ? text : bytes);
	if (err)
		pr_err("Bad snapshot size '%s': use for example -S64K or -S0x10000\n",
		       text);
	return err;
}

#endif /* __PERF_SNAPSHOT_SIZE_H */
