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

#ifndef __KERNEL__
/* Loads the module, or ends the program where that fails. */
void aux_bench_load(const char *module);
#endif

#endif
