/* SPDX-License-Identifier: GPL-2.0-only */
/* What the model of the hardware tells the model of perf's core. */
#ifndef SINK_H
#define SINK_H

#include <linux/types.h>

/* So many bytes are written there. */
void sink_output(u64 physical, u64 bytes);
/* TraceEn is being set. */
void sink_enabled(void);

#endif
