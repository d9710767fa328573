/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compat.h in perf_aux_synth/: what perf_aux_synth needs of a kernel, where that kernel does
 * not have it. It is included before each file of the module.
 */
#include <linux/hrtimer.h>
#include <linux/perf_event.h>

/* The kernel does not have the AUX areas that the module was written for. See compat.c. */
#ifndef PERF_PMU_CAP_AUX_ANY_SIZE

/* Areas have a power of two of pages. */
#define PERF_PMU_CAP_AUX_ANY_SIZE	0

int synth_pmu_register(struct pmu *pmu, const char *name, int type);
void *synth_output_begin(struct perf_output_handle *handle, struct perf_event *event);
int synth_output_skip(struct perf_output_handle *handle, unsigned long size);

/* What the function does, which is not exported */
static inline void synth_itrace_started(struct perf_event *event)
{
	WRITE_ONCE(event->attach_state, event->attach_state | PERF_ATTACH_ITRACE);
}

/* Not exported, and nothing calls it: see synth_pmu_register(). */
static inline long synth_output_copy(struct perf_output_handle *area,
				     struct perf_output_handle *record,
				     unsigned long from, unsigned long to)
{
	return 0;
}

#ifndef SYNTH_COMPAT_C
#define perf_pmu_register		synth_pmu_register
#define perf_aux_output_begin		synth_output_begin
#define perf_aux_output_skip		synth_output_skip
#define perf_output_copy_aux		synth_output_copy
#define perf_event_itrace_started	synth_itrace_started
#endif

#endif /* PERF_PMU_CAP_AUX_ANY_SIZE */

/* As in Linux 6.13 */
#ifndef SYNTH_HAS_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

/* In kernels without it, the areas of any PMU have chunks as large as possible. */
#ifndef PERF_PMU_CAP_AUX_PREFER_LARGE
#define PERF_PMU_CAP_AUX_PREFER_LARGE	0
#endif

/*
 * Kernels without it pause no trace. In the place of hw_perf_event::aux_paused is a field that
 * the core leaves to drivers, and that is 0 in events of this one.
 */
#ifndef PERF_PMU_CAP_AUX_PAUSE
#define PERF_PMU_CAP_AUX_PAUSE	0
#define PERF_EF_RESUME		0
#define aux_paused		config
#endif
