/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __PERF_AUX_LOSSES_H
#define __PERF_AUX_LOSSES_H

#include <stdbool.h>
#include <stdio.h>
#include <linux/types.h>

struct auxtrace_record;
struct evlist;
struct mmap;
struct record_opts;

enum aux_loss {
	/* AUX records with PERF_AUX_FLAG_TRUNCATED: the area was full, and the trace stopped */
	AUX_LOSS_FULL,
	/* AUX records with PERF_AUX_FLAG_PARTIAL: the driver knows of a gap */
	AUX_LOSS_GAP,
	/* AUX records with PERF_AUX_FLAG_COLLISION */
	AUX_LOSS_COLLISION,
	/* other records for which the data buffer had no room, as PERF_RECORD_LOST tells */
	AUX_LOSS_RECORDS,
	AUX_LOSS_MAX,
};

/**
 * struct aux_losses - what a data buffer tells of losses of a trace
 * @end: position in the buffer behind the last record that was counted
 * @records: number of AUX records
 * @nr: how many of them tell of which loss; of AUX_LOSS_RECORDS, how many records were lost
 */
struct aux_losses {
	u64 end;
	unsigned long records;
	unsigned long nr[AUX_LOSS_MAX];
};

/**
 * struct aux_remedies - what helps against the losses of a recording
 * @aux_size: bytes of each AUX area
 * @data_size: bytes of each data buffer
 * @aux_larger: a larger size of AUX areas that perf can have; 0 if there is none
 * @data_larger: the same of data buffers, with AUX areas of @aux_size, or of @aux_larger if one of
 *	them was full
 * @data_given: with "-m,SIZE", data buffers would have another size than they have
 * @filter: the trace can have address filters
 * @pause: other events can pause the trace
 * @snapshot: snapshots can be made of it
 * @samples: the trace consists of samples, with a period
 */
struct aux_remedies {
	u64 aux_size;
	u64 data_size;
	u64 aux_larger;
	u64 data_larger;
	bool data_given;
	bool filter;
	bool pause;
	bool snapshot;
	bool samples;
};

/* while perf record reads, each time that it is about to write out what is in a data buffer */
void aux_losses__count(struct mmap *map);

/* when a file is complete */
void aux_losses__report(struct auxtrace_record *itr, struct evlist *evlist,
			const struct record_opts *opts);

/* parts of the above, for tests */
u64 aux_losses__larger(u64 size, u64 room);
void aux_losses__fprintf(FILE *fp, const struct aux_losses *sum,
			 const struct aux_remedies *remedies);

#endif /* __PERF_AUX_LOSSES_H */
