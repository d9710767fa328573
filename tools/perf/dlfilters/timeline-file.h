/* SPDX-License-Identifier: GPL-2.0 */
/*
 * timeline-file.h - the perf.data file beside what perf says of it
 *
 * A filter is given samples only. What the kernel said of losses, and of the
 * trace as a whole, is read from the same file once more.
 */
#ifndef TIMELINE_FILE_H
#define TIMELINE_FILE_H

#include "timeline.h"

/**
 * struct tl_recording - what is true of the whole recording
 * @path: its file, for messages
 * @fd: the file
 * @size: its size, in bytes
 * @data: where its records begin
 * @end: where they end
 * @host: the machine that it was made on
 * @bts: it has a trace of BTS; otherwise of Intel PT
 * @per_cpu: there is an area for each CPU; otherwise for each thread
 * @snapshot: the trace is of snapshots, and what came between is not there
 * @sampling: the trace is in samples, so what came between is not there
 * @filters: address filters were set
 * @actions: events pause and resume the trace
 * @timeless: samples have no time
 * @cycles: there are CYC packets, so that cycles are those of the traced code
 * @partial: at least one AUX record says PARTIAL or COLLISION
 * @user: user code was traced
 * @kernel: the kernel was traced
 * @time_shift: for a TSC and @time_mult, @time_zero: a time
 * @time_mult: see @time_shift
 * @time_zero: see @time_shift
 */
struct tl_recording {
	const char *path;
	int fd;
	u64 size, data, end;
	char host[72];
	bool bts, per_cpu, snapshot, sampling, timeless, cycles;
	bool filters, actions, partial;
	bool user, kernel;
	u64 time_shift, time_mult, time_zero;
};

#pragma GCC visibility push(hidden)

extern struct tl_recording tl_rec;

/*
 * Open the recording: that of path, or the one that perf has open. Both end with
 * one line and -1 if no timeline can be made of it.
 */
int tl_file_open(const char *path);
/* Walk through all of it once. */
int tl_file_check(void);
void tl_file_close(void);

u64 tl_time_of_tsc(u64 tsc);

#pragma GCC visibility pop

#endif /* TIMELINE_FILE_H */
