/* SPDX-License-Identifier: GPL-2.0-only */
/* What parse-events.h of newer versions of perf has itself */
#ifndef __PERF_AUX_ACTION_BASE_H
#define __PERF_AUX_ACTION_BASE_H

#include <string.h>

static inline bool parse_events_error__contains(const struct parse_events_error *err,
						const char *needle)
{
	return (err->str && strstr(err->str, needle)) ||
	       (err->first_str && strstr(err->first_str, needle));
}

#endif /* __PERF_AUX_ACTION_BASE_H */
