// SPDX-License-Identifier: GPL-2.0-only
/*
 * An event has AUX data in its samples, and the area that they are from is mapped for reading and
 * writing, which is for traces without a loss: the kernel warns of what each user may do who may
 * trace at all.
 *
 * Since: 25e8920b301c ("perf/x86/intel/pt: Add sampling support")
 * Fixed by: fix-sample-full
 * Says: pt_event_snapshot_aux
 */
#include "event.h"

int main(void)
{
	struct perf_event_attr trace = trace_attr();
	struct perf_event_attr cycles = cycles_attr();
	struct perf_event_mmap_page *samples;
	int leader = open_event(&trace, -1);

	cycles.aux_sample_size = 4096;
	cycles.sample_type = PERF_SAMPLE_AUX;
	map(leader, 16, PROT_READ | PROT_WRITE);
	samples = map(open_event(&cycles, leader), 0, 0);
	work();
	return !samples->data_head;
}
