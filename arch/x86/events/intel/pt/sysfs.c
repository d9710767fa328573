// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files of Processor Trace in sysfs: capabilities, the format of an event's
 * configuration, and the clock ratios that decoders need.
 */
#include <linux/device.h>
#include <linux/init.h>
#include <linux/perf_event.h>
#include <linux/sysfs.h>

#include "pt.h"

struct pt_cap_attr {
	struct device_attribute	attr;
	enum pt_capabilities	cap;
};

static ssize_t pt_cap_show(struct device *dev, struct device_attribute *file,
			   char *page)
{
	struct pt_cap_attr *shown = container_of(file, struct pt_cap_attr, attr);

	return sysfs_emit(page, "%x\n", pt_caps_get(&pt_pmu.caps, shown->cap));
}

/* One file for each capability; filled in by pt_sysfs_init(). */
static struct pt_cap_attr pt_cap_files[PT_NR_CAPS];
static struct attribute *pt_cap_attrs[PT_NR_CAPS + 1];

static const struct attribute_group pt_caps_group = {
	.name	= "caps",
	.attrs	= pt_cap_attrs,
};

struct pt_term_attr {
	struct device_attribute	attr;
	const char		*place;
};

static ssize_t pt_term_show(struct device *dev, struct device_attribute *file,
			    char *page)
{
	struct pt_term_attr *term = container_of(file, struct pt_term_attr, attr);

	return sysfs_emit(page, "%s\n", term->place);
}

#define PT_TERM(_name, _place) \
	{ .attr = __ATTR(_name, 0444, pt_term_show, NULL), .place = _place }

/* Bits of perf_event_attr::config; see config.h for "pt". */
static struct pt_term_attr pt_term_files[] = {
	PT_TERM(pt,		"config:0"),
	PT_TERM(cyc,		"config:1"),
	PT_TERM(pwr_evt,	"config:4"),
	PT_TERM(fup_on_ptw,	"config:5"),
	PT_TERM(mtc,		"config:9"),
	PT_TERM(tsc,		"config:10"),
	PT_TERM(noretcomp,	"config:11"),
	PT_TERM(ptw,		"config:12"),
	PT_TERM(branch,		"config:13"),
	PT_TERM(mtc_period,	"config:14-17"),
	PT_TERM(cyc_thresh,	"config:19-22"),
	PT_TERM(psb_period,	"config:24-27"),
	PT_TERM(event,		"config:31"),
	PT_TERM(notnt,		"config:55"),
};

static struct attribute *pt_term_attrs[ARRAY_SIZE(pt_term_files) + 1];

static const struct attribute_group pt_format_group = {
	.name	= "format",
	.attrs	= pt_term_attrs,
};

static ssize_t max_nonturbo_ratio_show(struct device *dev,
				       struct device_attribute *file, char *page)
{
	return sysfs_emit(page, "%u\n", pt_pmu.max_nonturbo_ratio);
}
static DEVICE_ATTR_RO(max_nonturbo_ratio);

static ssize_t tsc_art_ratio_show(struct device *dev,
				  struct device_attribute *file, char *page)
{
	return sysfs_emit(page, "%u:%u\n", pt_pmu.tsc_art_num, pt_pmu.tsc_art_den);
}
static DEVICE_ATTR_RO(tsc_art_ratio);

static struct attribute *pt_ratio_attrs[] = {
	&dev_attr_max_nonturbo_ratio.attr,
	&dev_attr_tsc_art_ratio.attr,
	NULL,
};

static const struct attribute_group pt_ratio_group = {
	.attrs	= pt_ratio_attrs,
};

const struct attribute_group *pt_attr_groups[] = {
	&pt_caps_group,
	&pt_format_group,
	&pt_ratio_group,
	NULL,
};

/**
 * pt_sysfs_init - initialize the attributes of capabilities and formats
 */
void __init pt_sysfs_init(void)
{
	unsigned int i;

	for (i = 0; i < PT_NR_CAPS; i++) {
		pt_cap_files[i] = (struct pt_cap_attr) {
			.attr.attr.name	= pt_caps_name(i),
			.attr.attr.mode	= 0444,
			.attr.show	= pt_cap_show,
			.cap		= i,
		};
		pt_cap_attrs[i] = &pt_cap_files[i].attr.attr;
	}
	for (i = 0; i < ARRAY_SIZE(pt_term_files); i++)
		pt_term_attrs[i] = &pt_term_files[i].attr.attr;
}
