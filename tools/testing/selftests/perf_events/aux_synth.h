/* SPDX-License-Identifier: GPL-2.0-only */
/* The stream of the synthetic AUX PMUs (kernel/events/aux/synth.h), and how it is checked. */
#ifndef AUX_SYNTH_H
#define AUX_SYNTH_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "aux_util.h"

#define SYNTH_MAGIC	0x53585541

enum synth_kind {
	SYNTH_START = 1,
	SYNTH_DATA,
	SYNTH_STOP,
};

struct synth_packet {
	__u32 magic;
	__u16 kind;
	__u16 context;
	__u32 cpu;
	__u32 tid;
	__u64 number;
	__u64 position;
	__u64 time;
	__u64 event;
	__u64 area;
	__u64 sum;
};

#define SYNTH_PACKET	sizeof(struct synth_packet)

/* perf_event_attr::config */
#define SYNTH_PERIOD(us)	((__u64)(us))
#define SYNTH_PACKETS(nr)	((__u64)(nr) << 20)
#define SYNTH_FROM(from)	((__u64)(from) << 32)
#define SYNTH_ERROR(error)	((__u64)(error) << 34)
#define SYNTH_EVERY(nr)		((__u64)(nr) << 37)

enum synth_error {
	SYNTH_NO_ERROR,
	SYNTH_TRUNCATED,
	SYNTH_PARTIAL,
	SYNTH_COLLISION,
	SYNTH_OTHER_FORMAT,
	SYNTH_NO_START,
};

/* What a reader of a stream knows so far; all zero before the first packet. */
struct synth_reader {
	__u64 packets, starts, stops;
	/* number that the next packet must have */
	__u64 next;
	__u64 area, event;
	/* the first packet may have any number, for those before are overwritten */
	bool anywhere;
	/* contexts of SYNTH_DATA, a bit each */
	unsigned int contexts;
	/* time and CPU of the last packet */
	__u64 time;
	__u32 cpu;
	/* tasks and CPUs that were seen, by their numbers modulo 64 */
	__u64 tids, cpus;
	/* what is wrong with the first packet that is, or NULL */
	const char *wrong;
};

/* Whether a packet can lie at that position of an area; size is a power of two. */
bool synth_is_packet(const struct synth_packet *packet, __u64 position, size_t size);
/* Take the packets between two positions; false as soon as one is wrong. */
bool synth_read(struct synth_reader *reader, const void *area, size_t size, __u64 from, __u64 to);

#endif
