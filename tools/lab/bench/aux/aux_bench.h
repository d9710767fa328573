/* SPDX-License-Identifier: GPL-2.0-only */
/* The AUX PMU without hardware, for the module and for the programs that drive it. */
#ifndef AUX_BENCH_H
#define AUX_BENCH_H

/* perf_event_attr::config2 */

/* Every begin finds the area full. */
#define AUX_BENCH_FULL	0x1
/* A transaction outlives stop() and ends with del(), as on s390. */
#define AUX_BENCH_KEEP	0x2
/* No transaction is open while the event runs, and stop() writes to the area, as CoreSight may. */
#define AUX_BENCH_LATE	0x4
/* A transaction outlives stop() and ends in an interrupt just after it, as it may on s390. */
#define AUX_BENCH_AFTER	0x8
/* The rest: what the transactions of config1 are marked as. */
#define AUX_BENCH_ROW_SHIFT	8

/* What touched.c counts: the rows of its table. */
enum aux_bench_row {
	AUX_BENCH_NONE,
	AUX_BENCH_EMPTY,
	AUX_BENCH_DATA,
	AUX_BENCH_SAMPLE,
	AUX_BENCH_SWITCH,
	AUX_BENCH_READ,
	AUX_BENCH_READ_DISABLED,
	AUX_BENCH_SHARED,
	AUX_BENCH_ROWS
};

#define AUX_BENCH_MARK	0x41555800

#ifdef __x86_64__
/* Begin or end a round of a row: for touched.c, which looks for the instruction, and at RAX. */
static inline void aux_bench_mark(unsigned long row)
{
	asm volatile("nopl %c0(%%rax)" : : "i" (AUX_BENCH_MARK), "a" (row) : "memory");
}
#endif

#ifndef __KERNEL__
/* Loads the module, or ends the program where that fails. */
void aux_bench_load(const char *module);

struct perf_event_attr;
/* The attributes of an event of this PMU; its count is read alone. */
void aux_bench_choose(const char *pmu, struct perf_event_attr *attr);
#endif

#endif
