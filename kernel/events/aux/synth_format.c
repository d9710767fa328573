// SPDX-License-Identifier: GPL-2.0-only
/* The terms of the synthetic AUX PMUs: how they are read, and the files that tell perf. */
#include <linux/bitfield.h>
#include <linux/errno.h>
#include <linux/perf_event.h>
#include <linux/sysfs.h>
#include <linux/time64.h>

#include "synth_format.h"

#define SYNTH_PERIOD_DEFAULT	100
#define SYNTH_PERIOD_MIN	10
#define SYNTH_PACKETS_DEFAULT	16
#define SYNTH_PACKETS_MAX	1024
/* Number of packets a microsecond that leaves a fast CPU time; see synth_rest() for others */
#define SYNTH_RATE_MAX		4

/**
 * synth_parse - read the terms of an event
 * @parsed: the terms, with defaults for those that are 0
 * @config: perf_event_attr::config
 *
 * Return: 0, or -EINVAL if a term has no meaning
 */
int synth_parse(struct synth_config *parsed, u64 config)
{
	unsigned int period = FIELD_GET(SYNTH_PERIOD, config) ?: SYNTH_PERIOD_DEFAULT;

	*parsed = (struct synth_config) {
		.period		= (u64)period * NSEC_PER_USEC,
		.packets	= FIELD_GET(SYNTH_PACKETS, config) ?: SYNTH_PACKETS_DEFAULT,
		.from		= FIELD_GET(SYNTH_FROM, config),
		.error		= FIELD_GET(SYNTH_ERROR, config),
		.every		= FIELD_GET(SYNTH_EVERY, config) ?: 1,
	};
	if (config & ~SYNTH_ALL || period < SYNTH_PERIOD_MIN ||
	    parsed->packets > SYNTH_PACKETS_MAX ||
	    parsed->packets > period * SYNTH_RATE_MAX ||
	    parsed->from > SYNTH_NMI || parsed->error > SYNTH_NO_START)
		return -EINVAL;
	return 0;
}

PMU_FORMAT_ATTR(period, "config:0-19");
PMU_FORMAT_ATTR(packets, "config:20-31");
PMU_FORMAT_ATTR(from, "config:32-33");
PMU_FORMAT_ATTR(error, "config:34-36");
PMU_FORMAT_ATTR(every, "config:37-47");

static struct attribute *synth_format_attrs[] = {
	&format_attr_period.attr,
	&format_attr_packets.attr,
	&format_attr_from.attr,
	&format_attr_error.attr,
	&format_attr_every.attr,
	NULL
};

static const struct attribute_group synth_format_group = {
	.name	= "format",
	.attrs	= synth_format_attrs,
};

const struct attribute_group *synth_attr_groups[] = {
	&synth_format_group,
	NULL
};
