/* SPDX-License-Identifier: GPL-2.0-only */
/* perf_event_attr::config of the synthetic AUX PMU */
#ifndef _KERNEL_EVENTS_AUX_SYNTH_FORMAT_H
#define _KERNEL_EVENTS_AUX_SYNTH_FORMAT_H

#include <linux/bits.h>
#include <linux/sysfs.h>
#include <linux/types.h>

/* A term that is 0 has its default. */
#define SYNTH_PERIOD	GENMASK_ULL(19, 0)	/* microseconds between two writes */
#define SYNTH_PACKETS	GENMASK_ULL(31, 20)	/* number of packets of a write */
#define SYNTH_FROM	GENMASK_ULL(33, 32)	/* enum synth_from */
#define SYNTH_ERROR	GENMASK_ULL(36, 34)	/* enum synth_error */
#define SYNTH_EVERY	GENMASK_ULL(47, 37)	/* the error is in every Nth transaction */
#define SYNTH_ALL	GENMASK_ULL(47, 0)

/**
 * enum synth_from - where packets are written from
 * @SYNTH_TIMER: the interrupt of a timer
 * @SYNTH_IRQ_WORK: the interrupt of an irq_work that the timer queues
 * @SYNTH_NMI: an NMI that the timer sends
 */
enum synth_from {
	SYNTH_TIMER,
	SYNTH_IRQ_WORK,
	SYNTH_NMI,
};

/**
 * enum synth_error - what goes wrong
 * @SYNTH_NO_ERROR: nothing
 * @SYNTH_TRUNCATED: a transaction is reported with PERF_AUX_FLAG_TRUNCATED, and the
 *	event is disabled
 * @SYNTH_PARTIAL: a transaction is reported with PERF_AUX_FLAG_PARTIAL
 * @SYNTH_COLLISION: a transaction is reported with PERF_AUX_FLAG_COLLISION
 * @SYNTH_OTHER_FORMAT: a transaction is reported with PERF_AUX_FLAG_CORESIGHT_FORMAT_RAW
 * @SYNTH_NO_START: the event does not start when it is scheduled in
 */
enum synth_error {
	SYNTH_NO_ERROR,
	SYNTH_TRUNCATED,
	SYNTH_PARTIAL,
	SYNTH_COLLISION,
	SYNTH_OTHER_FORMAT,
	SYNTH_NO_START,
};

/**
 * struct synth_config - perf_event_attr::config with its defaults
 * @period: nanoseconds between two writes
 * @packets: number of packets of a write
 * @from: where they are written from
 * @error: what goes wrong
 * @every: the error is in every Nth transaction, or start
 */
struct synth_config {
	u64			period;
	unsigned int		packets;
	enum synth_from		from;
	enum synth_error	error;
	unsigned int		every;
};

extern const struct attribute_group *synth_attr_groups[];

int synth_parse(struct synth_config *parsed, u64 config);

#endif /* _KERNEL_EVENTS_AUX_SYNTH_FORMAT_H */
