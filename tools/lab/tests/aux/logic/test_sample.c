// SPDX-License-Identifier: GPL-2.0-only
/* sample.c and pause.c: what an overflow of another event does to a trace, also as NMI. */
#include "check.h"

static struct perf_event trace, event, second;
static bool running, second_running;
static long copied;
static struct perf_output_handle handle;
static bool sampled_again;

static void *setup(struct perf_event *event, void **pages, int nr_pages, bool overwrite)
{
	return pages;
}

static void free_aux(void *aux)
{
}

static bool *runs(struct perf_event *event)
{
	return event == &second ? &second_running : &running;
}

static void start(struct perf_event *event, int flags)
{
	must(flags == PERF_EF_RESUME && !*runs(event) && world.irqs_off, "a trace that is paused resumes");
	nmi_point();
	*runs(event) = true;
	nmi_point();
}

static void stop(struct perf_event *event, int flags)
{
	if (flags == PERF_EF_UPDATE) {
		if (handle.event)
			perf_aux_output_end(&handle, 0);
		return;
	}
	must(flags == PERF_EF_PAUSE && *runs(event) && world.irqs_off, "a trace that runs is paused");
	nmi_point();
	*runs(event) = false;
	nmi_point();
}

static bool too_much;

static long snapshot(struct perf_event *of, struct perf_output_handle *record, unsigned long size)
{
	struct perf_sample_data data;
	static const char bytes[1 << 15] = { [0 ... (1 << 15) - 1] = 'x' };

	if (too_much)
		return size + 1;
	must((of == &trace || of == &second) && world.irqs_off, "a sample is of the trace, with interrupts off");
	/* An NMI in the middle of a sample takes none. */
	sampled_again |= perf_aux_sample_size(&event, &data, 64) || data.aux_size;
	if (copied > 0)
		perf_output_copy(record, bytes, min(copied, (long)size));
	return min(copied, (long)size);
}

static struct pmu pmu = { .setup_aux = setup, .free_aux = free_aux, .start = start, .stop = stop,
			  .snapshot_aux = snapshot };
static struct mapping data, area;

static void begin(unsigned long flags)
{
	world_begin();
	event_begin(&trace, &pmu);
	event_begin(&event, &pmu);
	event_begin(&second, &pmu);
	event.aux_event = &trace;
	map_both(&data, &area, &trace, 4, flags);
	perf_aux_output_begin(&handle, &trace);
	copied = 1L << 20;
	sampled_again = false;
	running = second_running = true;
}

static void end(void)
{
	unmap(&area);
	unmap(&data);
}

/* The size of a sample's AUX data, and whether as many bytes are written. */
static long sample(unsigned long room)
{
	struct perf_sample_data sample = { .aux_size = 99 };
	unsigned long size = perf_aux_sample_size(&event, &sample, room);

	world.sample_size = 0;
	perf_aux_sample_write(&event, &handle, size);
	if (size != sample.aux_size || world.sample_size != size || world.rcu || world.irqs_off)
		return -1;
	return size;
}

static unsigned long count(unsigned char byte)
{
	unsigned long found = 0;

	for (unsigned long i = 0; i < world.sample_size; i++)
		found += world.sample[i] == byte;
	return found;
}

static void test_samples(void)
{
	begin(0);
	point(sample(4096) == 4096 && count('x') == 4096, "sample: all that there is room for");
	point(sample(1UL << 15) == 4 * PAGE_SIZE, "sample: no more than the area has");
	point(sample(61) == 64, "sample: a multiple of 8");
	point(!sampled_again, "sample: none within a sample");
	for (copied = 0; copied < 300; copied++)
		if (sample(256) != 256 || count('x') != min(copied, 256L) ||
		    count(0) != 256 - min(copied, 256L))
			break;
	point(copied == 300, "sample: what is missing is zeros");
	copied = -EFAULT;
	point(sample(256) == 256 && count(0) == 256, "sample: a driver's error");

	copied = 256;
	trace.oncpu = 1;
	point(!sample(256), "sample: not where the trace does not run");
	trace.oncpu = 0;
	trace.state = PERF_EVENT_STATE_INACTIVE;
	point(!sample(256), "sample: not where it has stopped");
	trace.state = PERF_EVENT_STATE_ACTIVE;
	event.aux_event = NULL;
	point(!sample(256), "sample: of no trace");
	event.aux_event = &trace;
	perf_aux_output_end(&handle, 0);
	point(!sample(256), "sample: of no transaction");
	end();
	begin(VM_WRITE);
	point(!sample(256), "sample: not of a full trace");
	end();

	/* The area goes between size and data. */
	begin(0);
	unmap(&area);
	world.sample_size = 0;
	perf_aux_sample_write(&event, &handle, 256);
	point(world.sample_size == 256 && count(0) == 256, "sample: the area has gone");
	unmap(&data);
	perf_aux_sample_write(&event, &handle, 8);
	point(world.sample_size == 264, "sample: the buffer has gone");

	/* Of a child's trace, in its parent's buffer. */
	begin(0);
	second.parent = &trace;
	second.cpu = world.cpu;
	perf_aux_output_end(&handle, 0);
	perf_aux_output_begin(&handle, &second);
	event.aux_event = &second;
	copied = 64;
	point(sample(64) == 64 && count('x') == 64 && !world.warnings,
	      "sample: of a child's trace, without a warning");
	copied = -1;
	too_much = true;
	world.sample_size = 0;
	perf_aux_sample_write(&event, &handle, 64);
	point(world.warnings == 1 && !world.sample_size, "sample: a driver that copies too much");
	too_much = false;
	end();
}

static bool last_wanted;
static struct perf_event *paused;

static void nmi(void)
{
	last_wanted = random_below(2);
	perf_aux_pause(paused, last_wanted);
}

/* Two traces in one buffer: an overflow that is about one of them says nothing of the other. */
static void test_two_pauses(unsigned long steps)
{
	bool good = true, wanted;

	begin(0);
	second.parent = &trace;
	paused = &second;
	last_wanted = false;
	world.nmi = nmi;
	for (unsigned long i = 0; good && i < steps; i++) {
		world.nmis = 2;
		wanted = random_below(2);
		perf_aux_pause(&trace, wanted);
		good = running == !wanted && second_running == !last_wanted;
	}
	world.nmi = NULL;
	point(good, "pause: two traces in one buffer");
	end();
}

static void test_pauses(unsigned long steps)
{
	bool good = true;

	begin(0);
	paused = &trace;
	/* NMIs at each place: the last of all that ask wins. */
	world.nmi = nmi;
	for (unsigned long i = 0; good && i < steps; i++) {
		world.nmis = random_below(4);
		last_wanted = random_below(2);
		perf_aux_pause(&trace, last_wanted);
		good = running == !last_wanted && trace.hw.aux_paused == last_wanted &&
		       !trace.hw.aux_in_pause && !world.irqs_off && !world.rcu;
	}
	world.nmi = NULL;
	point(good, "pause: NMIs in the middle: the last one wins");

	end();
}

void test_sample(unsigned long steps)
{
	test_samples();
	test_pauses(steps);
	test_two_pauses(steps);
}
