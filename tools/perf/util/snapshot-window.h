/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long there is no trace while a snapshot of AUX areas is made.
 */
#ifndef __PERF_SNAPSHOT_WINDOW_H
#define __PERF_SNAPSHOT_WINDOW_H

void snapshot_window__begin(void);
void snapshot_window__stopped(void);
void snapshot_window__end(void);

#endif
