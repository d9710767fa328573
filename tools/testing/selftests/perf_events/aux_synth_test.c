// SPDX-License-Identifier: GPL-2.0-only
/*
 * AUX areas with a stream that describes itself, of each synthetic PMU and from each
 * context that it can write in: nothing is lost, repeated, torn or stale.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aux_harness.h"
#include "aux_synth.h"

#define DATA_PAGES	16
#define AREA_PAGES	16
/* Microseconds and packets: 10 MB/s */
#define PERIOD		50
#define PACKETS		8
/*
 * Microseconds, for tests that do not read the area while the event writes to it. Where
 * interrupts are slow, a timer each PERIOD leaves the task so little of its CPU that the area
 * becomes full.
 */
#define SLOW_PERIOD	400
#define SLOW_SECONDS	(SLOW_PERIOD / 1000000.0)
#define IN_IRQ		1
#define IN_NMI		2
#define TIMER		0
#define IRQ_WORK	1
#define NMI		2
/* Seconds in which a stream gets anywhere, on a machine that does something else */
#define PATIENCE	20
#define LAPS		20
#define NOBODY		65534
#define TICKS		8
#define CALLS		2000
#define TRIES		4

#define IRQ_WORK_ID	"/sys/kernel/tracing/events/irq_vectors/irq_work_entry/id"

FIXTURE(aux_synth)
{
	struct aux_event event;
	struct aux_log log;
	struct synth_reader reader;
	size_t size;
	__u64 config;
};

FIXTURE_VARIANT(aux_synth)
{
	const char *pmu;
	int from;
};

FIXTURE_VARIANT_ADD(aux_synth, pages_timer) { .pmu = "aux_synth", .from = TIMER };
FIXTURE_VARIANT_ADD(aux_synth, pages_irq_work) { .pmu = "aux_synth", .from = IRQ_WORK };
FIXTURE_VARIANT_ADD(aux_synth, pages_nmi) { .pmu = "aux_synth", .from = NMI };
FIXTURE_VARIANT_ADD(aux_synth, large_timer) { .pmu = "aux_synth_large", .from = TIMER };
FIXTURE_VARIANT_ADD(aux_synth, large_nmi) { .pmu = "aux_synth_large", .from = NMI };
FIXTURE_VARIANT_ADD(aux_synth, no_sg_timer) { .pmu = "aux_synth_no_sg", .from = TIMER };
FIXTURE_VARIANT_ADD(aux_synth, no_sg_irq_work) { .pmu = "aux_synth_no_sg", .from = IRQ_WORK };
FIXTURE_VARIANT_ADD(aux_synth, no_sg_nmi) { .pmu = "aux_synth_no_sg", .from = NMI };

FIXTURE_SETUP(aux_synth)
{
	struct perf_event_attr attr;
	int fd;

	self->event.fd = -1;
	aux_use(variant->pmu);
	if (aux_missing())
		SKIP(return, "%s", aux_missing());
	self->size = AREA_PAGES * aux_page_size();
	self->config = SYNTH_PERIOD(PERIOD) | SYNTH_PACKETS(PACKETS) | SYNTH_FROM(variant->from);

	aux_attr(&attr);
	attr.config = self->config;
	fd = aux_open(&attr, 0, -1);
	if (fd < 0 && errno == EOPNOTSUPP && variant->from == NMI)
		SKIP(return, "%s sends no NMI on this machine", variant->pmu);
	ASSERT_GE(fd, 0);
	close(fd);
}

FIXTURE_TEARDOWN(aux_synth)
{
	aux_close(&self->event);
}

static int open_area(struct aux_event *event, __u64 config, int prot, pid_t pid, int cpu,
		     bool inherit)
{
	struct perf_event_attr attr;

	aux_attr(&attr);
	attr.config = config;
	attr.inherit = inherit;
	return aux_open_mapped(event, &attr, pid, cpu, DATA_PAGES) ?:
	       aux_map_area(event, AREA_PAGES * aux_page_size(), prot);
}

/* Packets name tasks as the initial PID namespace does. */
static bool knows_tids(void)
{
	char name[64] = "";

	return readlink("/proc/self/ns/pid", name, sizeof(name) - 1) > 0 &&
	       !strcmp(name, "pid:[4026531836]");
}

/* Keep the CPU until a number of bytes is reached. */
static bool wait_for(struct aux_event *event, __u64 head)
{
	double end = aux_seconds() + PATIENCE;

	while (aux_head(event) < head && aux_seconds() < end)
		;
	return aux_head(event) >= head;
}

static void work_for(double seconds)
{
	double end = aux_seconds() + seconds;

	while (aux_seconds() < end)
		;
}

/* Take what there is, and give its place back. */
static bool read_on(struct aux_event *event, struct synth_reader *reader, __u64 *tail)
{
	__u64 head = aux_head(event);
	bool right = synth_read(reader, event->area, event->area_len, *tail, head);

	*tail = head;
	aux_set_tail(event, head);
	return right;
}

/* A reader who keeps up: the area is never full. */
TEST_F_TIMEOUT(aux_synth, all_of_it_arrives, 60)
{
	__u64 tail = 0;

	ASSERT_EQ(open_area(&self->event, self->config, PROT_READ | PROT_WRITE, 0, -1, false), 0);
	ASSERT_EQ(aux_enable(&self->event), 0);
	for (unsigned int lap = 0; lap < 2 * LAPS; lap++) {
		ASSERT_TRUE(wait_for(&self->event, tail + self->size / 2));
		EXPECT_TRUE(read_on(&self->event, &self->reader, &tail)) {
			TH_LOG("packet %llu is %s", self->reader.next, self->reader.wrong);
		}
		aux_enable(&self->event);
	}
	aux_disable(&self->event);
	EXPECT_TRUE(read_on(&self->event, &self->reader, &tail));
	EXPECT_GE(self->reader.packets, LAPS * self->size / SYNTH_PACKET);
	if (knows_tids())
		EXPECT_EQ(self->reader.tids, 1ULL << getpid() % 64);
	EXPECT_EQ(self->reader.contexts, 1U << (variant->from == NMI ? IN_NMI : IN_IRQ));

	aux_drain(&self->event, &self->log);
	EXPECT_EQ(self->log.holes, 0);
	EXPECT_EQ(self->log.lost, 0);
	EXPECT_EQ(self->log.end, aux_head(&self->event));
}

/* Microseconds and packets; what is 0 in config has the last ones. */
static const struct {
	__u64 config;
	unsigned int period, packets;
} rates[] = {
	{ SYNTH_PERIOD(2000) | SYNTH_PACKETS(5), 2000, 5 },
	{ SYNTH_PERIOD(700) | SYNTH_PACKETS(64), 700, 64 },
	{ 0, 100, 16 },
};

/* A test that fails by this alone is tried again: a machine that stops at times makes it so. */
static const char in_several[] = "the packets of one tick in several";

static bool packet_at(struct aux_event *event, struct synth_packet *packet, __u64 number)
{
	memcpy(packet, (const char *)event->area + number * SYNTH_PACKET, sizeof(*packet));
	return synth_is_packet(packet, number * SYNTH_PACKET, event->area_len) &&
	       packet->number == number;
}

/*
 * The first packet is that of the start, the others are those of ticks. On a busy machine a tick
 * may be late, or interrupted, but none is early; and most ticks have all of their packets.
 */
static const char *wrong_with_rate(struct aux_event *event, __u64 period, unsigned int packets)
{
	struct synth_packet packet;
	unsigned int together = 0;
	__u64 start, first = 0;

	if (!packet_at(event, &packet, 0) || packet.kind != SYNTH_START)
		return "no start";
	start = packet.time;
	for (unsigned int i = 0; i < TICKS * packets; i++) {
		if (!packet_at(event, &packet, i + 1) || packet.kind != SYNTH_DATA)
			return "too few packets";
		/* The clocks of the timer and of packets are not quite the same. */
		if (packet.time < start + (i / packets + 1) * period / 10 * 9)
			return "a packet that comes too early";
		if (i % packets == 0)
			first = packet.time;
		else if (i % packets == packets - 1)
			together += packet.time - first < period / 2;
	}
	return together > TICKS / 2 ? NULL : in_several;
}

/* An event that counts interrupts by which CPU 0 runs irq_works, or -1 */
static int open_irq_works(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr) };

	attr.config = aux_read_number(IRQ_WORK_ID);
	return attr.config ? aux_open(&attr, -1, 0) : -1;
}

/* When a packet was written, or 0 if it does not come. */
static __u64 time_of_packet(struct aux_event *event, __u64 number)
{
	double end = aux_seconds() + PATIENCE;
	struct synth_packet packet;

	while (aux_seconds() < end) {
		if (packet_at(event, &packet, number))
			return packet.time;
	}
	return 0;
}

/* Half of an area of a MiB is not full before the reader has looked. */
static const char *try_rate(struct aux_event *event, int from, size_t i)
{
	struct perf_event_attr attr;
	const char *wrong;

	aux_attr(&attr);
	attr.config = rates[i].config | SYNTH_FROM(from);
	if (aux_open_mapped(event, &attr, -1, 0, DATA_PAGES) ||
	    aux_map_area(event, 1UL << 20, PROT_READ | PROT_WRITE) || aux_enable(event))
		return "no area";
	time_of_packet(event, TICKS * rates[i].packets);
	aux_disable(event);
	wrong = wrong_with_rate(event, rates[i].period * 1000ULL, rates[i].packets);
	aux_close(event);
	return wrong;
}

/* Packets come as often, and as many at a time, as the terms say. */
TEST_F_TIMEOUT(aux_synth, as_often_as_asked, 60)
{
	int irq_works = open_irq_works();
	__u64 count;

	for (size_t i = 0; i < ARRAY_SIZE(rates); i++) {
		const char *wrong = in_several;

		for (unsigned int lap = 0; lap < LAPS && wrong == in_several; lap++)
			wrong = try_rate(&self->event, variant->from, i);
		EXPECT_EQ(wrong, NULL) {
			TH_LOG("%u packets each %u us: %s", rates[i].packets, rates[i].period,
			       wrong);
		}
	}
	if (variant->from != IRQ_WORK || irq_works < 0)
		return;
	ASSERT_EQ(read(irq_works, &count, sizeof(count)), sizeof(count));
	EXPECT_GE(count, ARRAY_SIZE(rates) * TICKS);
	close(irq_works);
}

/* Microseconds and packets that are too much for a slow machine, such as an emulated one */
static const struct {
	unsigned int period, packets;
} heavy[] = { { 10, 40 }, { 256, 1024 } };

/*
 * Make system calls, for 20 ms at least, and until the trace has more than @trace bytes. Returns
 * how many there was time for.
 */
static unsigned int make_calls(struct aux_event *event, __u64 trace)
{
	double begin = aux_seconds(), now = begin;
	unsigned int calls;

	for (calls = 0; now < begin + PATIENCE; calls++) {
		if (calls >= CALLS && now > begin + 0.02 && aux_head(event) > trace)
			break;
		syscall(SYS_getppid);
		now = aux_seconds();
	}
	return calls;
}

/* What is traced gets on, whatever a tick takes; and more than one tick comes. */
TEST_F_TIMEOUT(aux_synth, leaves_time, 60)
{
	for (size_t i = 0; i < ARRAY_SIZE(heavy); i++) {
		__u64 config = SYNTH_PERIOD(heavy[i].period) | SYNTH_PACKETS(heavy[i].packets) |
			       SYNTH_FROM(variant->from);
		__u64 tick = heavy[i].packets * SYNTH_PACKET;

		ASSERT_EQ(open_area(&self->event, config, PROT_READ, 0, -1, false), 0);
		ASSERT_EQ(aux_enable(&self->event), 0);
		EXPECT_GE(make_calls(&self->event, tick), CALLS);
		aux_disable(&self->event);
		EXPECT_GT(aux_head(&self->event), tick);
		aux_close(&self->event);
	}
}

/* The time of so many ticks after the start, or 0 if they do not come */
static __u64 time_of_ticks(struct aux_event *event, unsigned int ticks)
{
	__u64 end = time_of_packet(event, ticks);
	struct synth_packet packet;

	for (unsigned int i = ticks; i; i--) {
		if (!packet_at(event, &packet, i) || packet.kind != SYNTH_DATA)
			return 0;
	}
	return packet_at(event, &packet, 0) ? end - packet.time : 0;
}

/* Where a machine is fast enough, each tick comes: try again if others took its time. */
TEST_F_TIMEOUT(aux_synth, keeps_its_period, 60)
{
	const unsigned int period = 20000;
	__u64 config = SYNTH_PERIOD(period) | SYNTH_PACKETS(1) | SYNTH_FROM(variant->from);
	const __u64 most = (TICKS + 1) * period * 1000ULL;
	__u64 took = 0;

	for (unsigned int i = 0; i < LAPS && (!took || took > most); i++) {
		ASSERT_EQ(open_area(&self->event, config, PROT_READ | PROT_WRITE, -1, 0, false), 0);
		ASSERT_EQ(aux_enable(&self->event), 0);
		took = time_of_ticks(&self->event, TICKS);
		aux_close(&self->event);
	}
	EXPECT_GT(took, 0);
	EXPECT_LE(took, most);
}

/* The room of an area is a byte less than its size, which is a packet less. */
static __u64 full_at(struct aux_event *event, __u64 tail)
{
	return (tail + event->area_len - 1) / SYNTH_PACKET * SYNTH_PACKET;
}

/* A reader who lets the area run full: it stops, and goes on with the next packet. */
TEST_F_TIMEOUT(aux_synth, full_and_on_again, 60)
{
	__u64 tail = 0;

	ASSERT_EQ(open_area(&self->event, self->config, PROT_READ | PROT_WRITE, 0, -1, false), 0);
	for (unsigned int lap = 0; lap < LAPS; lap++) {
		ASSERT_EQ(aux_enable(&self->event), 0);
		ASSERT_TRUE(wait_for(&self->event, full_at(&self->event, tail)));
		work_for(0.001);
		/* Not a packet more than there is room for. */
		ASSERT_EQ(aux_head(&self->event), full_at(&self->event, tail));
		ASSERT_TRUE(read_on(&self->event, &self->reader, &tail)) {
			TH_LOG("packet %llu is %s", self->reader.next, self->reader.wrong);
		}
	}
	EXPECT_GE(self->reader.starts, LAPS);
}

/*
 * Let the area run full to a tail. What is left is 63 or 39 bytes, too little for a packet
 * and reported as such; or none, with a tail that is a byte beyond a packet.
 */
static __u64 flags_when_full(struct aux_event *event, struct aux_log *log, __u64 tail)
{
	aux_set_tail(event, tail);
	aux_enable(event);
	if (!wait_for(event, full_at(event, tail)))
		return ~0ULL;
	work_for(0.001);
	aux_drain(event, log);
	return aux_head(event) == full_at(event, tail) ? log->flags : ~0ULL;
}

TEST_F_TIMEOUT(aux_synth, odd_room, 60)
{
	struct aux_event *event = &self->event;

	ASSERT_EQ(open_area(event, self->config, PROT_READ | PROT_WRITE, 0, -1, false), 0);
	EXPECT_EQ(flags_when_full(event, &self->log, 0), PERF_AUX_FLAG_TRUNCATED);
	EXPECT_EQ(flags_when_full(event, &self->log, 3 * SYNTH_PACKET + 40),
		  PERF_AUX_FLAG_TRUNCATED);
	EXPECT_EQ(flags_when_full(event, &self->log, 7 * SYNTH_PACKET + 1), 0);
	EXPECT_EQ(flags_when_full(event, &self->log, 9 * SYNTH_PACKET),
		  PERF_AUX_FLAG_TRUNCATED);
	EXPECT_EQ(self->log.holes, 0);
}

/* The newest data win; from head backwards they are one piece. */
TEST_F_TIMEOUT(aux_synth, newest_win, 60)
{
	__u64 head = 0;

	ASSERT_EQ(open_area(&self->event, self->config, PROT_READ, 0, -1, false), 0);
	for (unsigned int lap = 0; lap < LAPS || head <= 2 * self->size; lap++) {
		struct synth_reader reader = { .anywhere = true };

		ASSERT_EQ(aux_enable(&self->event), 0);
		work_for(0.01);
		ASSERT_EQ(aux_disable(&self->event), 0);
		head = aux_head(&self->event);
		ASSERT_TRUE(synth_read(&reader, self->event.area, self->size,
				       head > self->size ? head - self->size : 0, head)) {
			TH_LOG("packet %llu is %s", reader.next, reader.wrong);
		}
		EXPECT_EQ(reader.next * SYNTH_PACKET, head);
		EXPECT_GT(reader.stops, 0);
	}
	aux_drain(&self->event, &self->log);
	EXPECT_EQ(self->log.flags, PERF_AUX_FLAG_OVERWRITE);
	EXPECT_EQ(self->log.size, self->size);
}

/* Children write to the area of their parent, one after the other. */
TEST_F_TIMEOUT(aux_synth, children, 60)
{
	/* So little that nothing is full before it is read */
	const __u64 config = SYNTH_PERIOD(200) | SYNTH_PACKETS(1) | SYNTH_FROM(variant->from);
	__u64 tail = 0, tids = 0;

	ASSERT_EQ(aux_pin(0, aux_cpu(0)), 0);
	ASSERT_EQ(open_area(&self->event, config, PROT_READ | PROT_WRITE, 0, aux_cpu(0), true), 0);
	ASSERT_EQ(aux_enable(&self->event), 0);
	for (unsigned int i = 0; i < LAPS; i++) {
		pid_t child = fork();

		if (!child) {
			work_for(0.002);
			_exit(0);
		}
		ASSERT_EQ(waitpid(child, NULL, 0), child);
		tids |= 1ULL << child % 64;
		EXPECT_TRUE(read_on(&self->event, &self->reader, &tail)) {
			TH_LOG("packet %llu is %s", self->reader.next, self->reader.wrong);
		}
		aux_enable(&self->event);
	}
	/* Each of them was traced. */
	if (knows_tids())
		EXPECT_EQ(self->reader.tids & tids, tids);
	EXPECT_EQ(self->reader.cpus, 1);
}

/* A sampled event, which overflows at each page fault, and its group. */
static int open_sampler(struct aux_event *event, struct aux_event *trace, __u32 action, __u32 size)
{
	struct perf_event_attr attr;

	aux_sampler_attr(&attr, 1);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_PAGE_FAULTS_MIN;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | (size ? PERF_SAMPLE_AUX : 0);
	attr.aux_sample_size = size;
	aux_set_action(&attr, action);
	event->fd = aux_open_in_group(&attr, 0, -1, trace->fd);
	return event->fd < 0 ? -errno : aux_map_data(event, DATA_PAGES);
}

/* Touch new pages, each of which is a fault. */
static void fault(unsigned int pages)
{
	size_t len = pages * aux_page_size();
	char *fresh = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(fresh, len, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < len; at += aux_page_size())
		__atomic_store_n(fresh + at, 1, __ATOMIC_RELAXED);
	munmap(fresh, len);
}

#define MOST_SAMPLES	128

/* What samples had. */
struct sampled {
	unsigned int samples, filled;
	/* of each sample: its time, and the number of the packet after its newest one */
	struct {
		__u64 time, next;
	} sample[MOST_SAMPLES];
	const char *wrong;
};

/*
 * A sample has whole packets, one after the other; what there was not yet is padding.
 * Returns the number of the packet after the newest one, or 0.
 */
static __u64 note_packets(struct sampled *sampled, const char *data, __u64 size)
{
	struct synth_packet packet;
	__u64 number = 0;

	for (__u64 i = 0; i < size; i += SYNTH_PACKET) {
		memcpy(&packet, data + i, sizeof(packet));
		if (!packet.magic)
			break;
		if (!synth_is_packet(&packet, packet.position, SYNTH_PACKET))
			sampled->wrong = "a packet that is torn";
		if (i && packet.number != number)
			sampled->wrong = "packets that do not belong together";
		number = packet.number + 1;
	}
	return number;
}

static void note_sample(struct sampled *sampled, const struct aux_record *record, __u64 want)
{
	const char *at = record->bytes + 2 * sizeof(__u32);
	unsigned int i = sampled->samples;
	__u64 size;

	if (i == MOST_SAMPLES)
		return;
	memcpy(&sampled->sample[i].time, at, sizeof(__u64));
	memcpy(&size, at + sizeof(__u64), sizeof(size));
	if (size != want) {
		sampled->wrong = "a size that was not asked for";
		return;
	}
	sampled->sample[i].next = note_packets(sampled, at + 2 * sizeof(__u64), size);
	sampled->filled += !!sampled->sample[i].next;
	sampled->samples++;
}

/* The newest packet of a sample is that before it: the next one in the area is later. */
static void check_newest(struct sampled *sampled, struct aux_event *event)
{
	struct synth_packet packet;

	for (unsigned int i = 0; i < sampled->samples; i++) {
		__u64 place = sampled->sample[i].next * SYNTH_PACKET % event->area_len;

		memcpy(&packet, (const char *)event->area + place, sizeof(packet));
		if (packet.number == sampled->sample[i].next &&
		    packet.time < sampled->sample[i].time)
			sampled->wrong = "less than there was";
	}
}

/*
 * The number after that of the newest packet, of one kind or, with 0, of any. The search goes
 * backwards, so that newer packets come before older ones, whose sums are not needed then.
 */
static __u64 newest_in(struct aux_event *event, int kind)
{
	__u64 newest = 0;

	for (size_t at = event->area_len; at;) {
		struct synth_packet packet;

		at -= SYNTH_PACKET;
		memcpy(&packet, (const char *)event->area + at, sizeof(packet));
		if ((!kind || packet.kind == kind) && packet.number >= newest &&
		    synth_is_packet(&packet, at, event->area_len))
			newest = packet.number + 1;
	}
	return newest;
}

static __u64 packets_in(struct aux_event *event)
{
	return newest_in(event, 0);
}

/* Wait for more packets than a number, however long this machine stands still meanwhile. */
static bool runs_beyond(struct aux_event *event, __u64 packets)
{
	double end = aux_seconds() + PATIENCE;

	while (packets_in(event) <= packets && aux_seconds() < end)
		work_for(0.0001);
	return packets_in(event) > packets;
}

TEST_F_TIMEOUT(aux_synth, samples, 60)
{
	/* So little that all of it is in the area at the end */
	const __u64 config = SYNTH_PERIOD(100) | SYNTH_PACKETS(1) | SYNTH_FROM(variant->from);
	const __u32 want = 8 * SYNTH_PACKET;
	struct aux_event sampler = { .fd = -1 };
	static struct aux_record record;
	static struct sampled sampled;

	if (aux_missing_samples())
		SKIP(return, "%s", aux_missing_samples());
	memset(&sampled, 0, sizeof(sampled));
	ASSERT_EQ(open_area(&self->event, config, PROT_READ, 0, -1, false), 0);
	ASSERT_EQ(open_sampler(&sampler, &self->event, 0, want), 0);
	ASSERT_EQ(aux_enable(&self->event), 0);
	for (unsigned int i = 0; i < LAPS; i++) {
		fault(1);
		work_for(0.0005);
	}
	EXPECT_TRUE(runs_beyond(&self->event, LAPS / 4));
	fault(1);
	aux_disable(&self->event);

	while (aux_next(&sampler, &record))
		if (record.header.type == PERF_RECORD_SAMPLE)
			note_sample(&sampled, &record, want);
	check_newest(&sampled, &self->event);
	EXPECT_EQ(sampled.wrong, NULL) {
		TH_LOG("a sample has %s", sampled.wrong);
	}
	ASSERT_GT(sampled.samples, LAPS);
	EXPECT_EQ(sampled.filled, sampled.samples);
	EXPECT_GT(sampled.sample[sampled.samples - 1].next, LAPS / 4);
	aux_close(&sampler);
}

/* Do once what will be done: whatever it touches is there afterwards, and causes no fault. */
static void warm_up(struct aux_event *event)
{
	aux_enable(event);
	work_for(0.0001);
	packets_in(event);
	aux_disable(event);
}

/* A page fault pauses the trace, and not a packet follows. */
TEST_F_TIMEOUT(aux_synth, paused, 60)
{
	struct aux_event sampler = { .fd = -1 };
	__u64 fresh, before, after;

	if (aux_missing_pause())
		SKIP(return, "%s", aux_missing_pause());
	ASSERT_EQ(open_area(&self->event, self->config, PROT_READ, 0, -1, false), 0);
	warm_up(&self->event);
	ASSERT_EQ(open_sampler(&sampler, &self->event, AUX_PAUSE, 0), 0);
	fresh = packets_in(&self->event);
	ASSERT_EQ(aux_enable(&self->event), 0);
	/* By more than the packet of its start. */
	EXPECT_TRUE(runs_beyond(&self->event, fresh + PACKETS));
	fault(1);
	before = packets_in(&self->event);
	work_for(0.01);
	after = packets_in(&self->event);
	EXPECT_EQ(before, after);

	/* Enabled again, it is paused all the same. */
	aux_disable(&self->event);
	aux_enable(&self->event);
	work_for(0.01);
	EXPECT_EQ(packets_in(&self->event), before);
	aux_close(&sampler);
}

/* It starts paused, and a page fault resumes it. */
TEST_F_TIMEOUT(aux_synth, resumed, 60)
{
	struct aux_event sampler = { .fd = -1 };
	struct perf_event_attr attr;

	if (aux_missing_pause())
		SKIP(return, "%s", aux_missing_pause());
	aux_attr(&attr);
	attr.config = self->config;
	aux_set_action(&attr, AUX_START_PAUSED);
	ASSERT_EQ(aux_open_mapped(&self->event, &attr, 0, -1, DATA_PAGES), 0);
	ASSERT_EQ(aux_map_area(&self->event, self->size, PROT_READ), 0);
	warm_up(&self->event);
	ASSERT_EQ(open_sampler(&sampler, &self->event, AUX_RESUME, 0), 0);
	ASSERT_EQ(aux_enable(&self->event), 0);
	work_for(0.01);
	EXPECT_EQ(packets_in(&self->event), 0);
	fault(1);
	EXPECT_TRUE(runs_beyond(&self->event, PACKETS));
	aux_close(&sampler);
}

/* A page fault samples the trace and pauses it: samples have all there is, and nothing follows. */
TEST_F_TIMEOUT(aux_synth, sampled_and_paused, 60)
{
	struct aux_event sampler = { .fd = -1 };
	static struct aux_record record;
	static struct sampled sampled;

	if (aux_missing_samples())
		SKIP(return, "%s", aux_missing_samples());
	memset(&sampled, 0, sizeof(sampled));
	ASSERT_EQ(open_area(&self->event, self->config, PROT_READ, 0, -1, false), 0);
	ASSERT_EQ(open_sampler(&sampler, &self->event, AUX_PAUSE, 8 * SYNTH_PACKET), 0);
	ASSERT_EQ(aux_enable(&self->event), 0);
	for (unsigned int i = 0; i < TICKS; i++) {
		work_for(0.001);
		fault(1);
	}
	aux_disable(&self->event);

	while (aux_next(&sampler, &record))
		if (record.header.type == PERF_RECORD_SAMPLE)
			note_sample(&sampled, &record, 8 * SYNTH_PACKET);
	EXPECT_EQ(sampled.wrong, NULL) {
		TH_LOG("a sample has %s", sampled.wrong);
	}
	ASSERT_GE(sampled.samples, TICKS);
	for (unsigned int i = 0; i < sampled.samples; i++)
		EXPECT_EQ(sampled.sample[i].next, packets_in(&self->event));
	aux_close(&sampler);
}

static const struct {
	enum synth_error error;
	__u64 flag;
} synth_errors[] = {
	{ SYNTH_TRUNCATED, PERF_AUX_FLAG_TRUNCATED },
	{ SYNTH_PARTIAL, PERF_AUX_FLAG_PARTIAL },
	{ SYNTH_COLLISION, PERF_AUX_FLAG_COLLISION },
	{ SYNTH_OTHER_FORMAT, PERF_AUX_FLAG_CORESIGHT_FORMAT_RAW },
};

/* Number of records, each third of which has the flag, and no other has; 0 if one is wrong. */
static unsigned int count_flags(struct aux_event *event, __u64 flag)
{
	static struct aux_record record;
	unsigned int records = 0;
	__u64 flags;

	while (aux_next(event, &record)) {
		if (record.header.type != PERF_RECORD_AUX)
			continue;
		flags = record.aux.flags & ~(__u64)PERF_AUX_FLAG_OVERWRITE;
		if (flags != (++records % 3 ? 0 : flag))
			return 0;
	}
	return records;
}

/*
 * Every Nth transaction has the error, and no other has. Each start writes a packet and each stop
 * another one, so that each transaction has data, and a record. In full-trace mode, transactions
 * end at the watermark, too.
 */
TEST_F_TIMEOUT(aux_synth, errors, 60)
{
	struct perf_event_attr attr;

	for (size_t i = 0; i < 2 * ARRAY_SIZE(synth_errors); i++) {
		int prot = i % 2 ? PROT_READ : PROT_READ | PROT_WRITE;
		__u64 flag = synth_errors[i / 2].flag;

		aux_attr(&attr);
		attr.config = SYNTH_PERIOD(SLOW_PERIOD) | SYNTH_PACKETS(1) |
			      SYNTH_FROM(variant->from) | SYNTH_EVERY(3) |
			      SYNTH_ERROR(synth_errors[i / 2].error);
		attr.aux_watermark = 2 * SYNTH_PACKET;
		ASSERT_EQ(aux_open_mapped(&self->event, &attr, 0, -1, DATA_PAGES), 0);
		ASSERT_EQ(aux_map_area(&self->event, self->size, prot), 0);
		for (unsigned int j = 0; j < 9; j++) {
			aux_enable(&self->event);
			work_for(4 * SLOW_SECONDS);
			aux_disable(&self->event);
			aux_set_tail(&self->event, aux_head(&self->event));
		}
		EXPECT_GE(count_flags(&self->event, flag), 9) {
			TH_LOG("flag %llu, %s", flag, i % 2 ? "overwrite" : "full trace");
		}
		aux_close(&self->event);
	}
}

/* A driver that tells that the trace is cut off ends the event, though there is room. */
TEST_F_TIMEOUT(aux_synth, truncated_ends_the_event, 60)
{
	__u64 config = self->config | SYNTH_ERROR(SYNTH_TRUNCATED);
	double end = aux_seconds() + PATIENCE;
	__u64 head, time;

	ASSERT_EQ(open_area(&self->event, config, PROT_READ | PROT_WRITE, 0, -1, false), 0);
	ASSERT_EQ(aux_enable(&self->event), 0);
	/* The transaction ends where the reader is woken, or where the task is switched out. */
	do {
		time = aux_time_enabled(&self->event);
		work_for(0.02);
	} while (aux_time_enabled(&self->event) != time && aux_seconds() < end);
	EXPECT_GT(time, 0);
	EXPECT_EQ(aux_time_enabled(&self->event), time);
	head = aux_head(&self->event);
	EXPECT_LE(head, self->size / 2);
	aux_drain(&self->event, &self->log);
	EXPECT_EQ(self->log.end, head);
	EXPECT_EQ(self->log.flags_seen, PERF_AUX_FLAG_TRUNCATED);

	aux_set_tail(&self->event, head);
	ASSERT_EQ(aux_enable(&self->event), 0);
	EXPECT_TRUE(wait_for(&self->event, head + 1));
}

/* A driver that does not start: no trace, no record, and the next start is as usual. */
TEST_F_TIMEOUT(aux_synth, no_start, 60)
{
	__u64 config = self->config | SYNTH_ERROR(SYNTH_NO_START);

	ASSERT_EQ(open_area(&self->event, config, PROT_READ | PROT_WRITE, 0, -1, false), 0);
	ASSERT_EQ(aux_enable(&self->event), 0);
	work_for(0.02);
	aux_disable(&self->event);
	EXPECT_EQ(aux_head(&self->event), 0);
	aux_drain(&self->event, &self->log);
	EXPECT_EQ(self->log.aux, 0);
	aux_close(&self->event);

	/* Every second time */
	config |= SYNTH_EVERY(2);
	ASSERT_EQ(open_area(&self->event, config, PROT_READ, 0, -1, false), 0);
	for (unsigned int i = 0; i < 10; i++) {
		ASSERT_EQ(aux_enable(&self->event), 0);
		work_for(0.001);
		aux_disable(&self->event);
	}
	aux_drain(&self->event, &self->log);
	EXPECT_GE(self->log.aux, 4);
	EXPECT_FALSE(self->log.flags & ~(__u64)PERF_AUX_FLAG_OVERWRITE);
}

/*
 * The area of a task that runs on another CPU is unmapped, again and again. No area has
 * data of an earlier one.
 */
TEST_F_TIMEOUT(aux_synth, unmapped_while_it_runs, 60)
{
	pid_t worker = aux_worker(aux_cpu(1));
	struct perf_event_attr attr;
	__u64 area = 0;

	ASSERT_GT(worker, 0);
	aux_attr(&attr);
	attr.config = self->config;
	ASSERT_EQ(aux_open_mapped(&self->event, &attr, worker, -1, DATA_PAGES), 0);
	for (unsigned int i = 0; i < LAPS; i++) {
		__u64 head, begin = aux_head(&self->event);
		struct synth_reader reader = { };

		aux_disable(&self->event);
		ASSERT_EQ(aux_map_area(&self->event, self->size, PROT_READ | PROT_WRITE), 0);
		aux_set_tail(&self->event, begin);
		ASSERT_EQ(aux_enable(&self->event), 0);
		ASSERT_TRUE(wait_for(&self->event, begin + 1));
		head = aux_head(&self->event);
		ASSERT_TRUE(synth_read(&reader, self->event.area, self->size, begin, head)) {
			TH_LOG("packet %llu is %s", reader.next, reader.wrong);
		}
		EXPECT_GT(reader.area, area);
		area = reader.area;
		aux_unmap_area(&self->event);
	}
	aux_end_worker(worker);
}

/*
 * Two events run, and one of them stops: the other one goes on. Returns false if this lap shows
 * nothing: the event that goes on had too little room, or was switched out and started anew.
 */
static bool other_goes_on(struct __test_metadata *_metadata, struct aux_event *stops,
			  struct aux_event *goes_on, __u64 full)
{
	__u64 stopped, begin;
	bool room;

	aux_disable(stops);
	stopped = packets_in(stops);
	begin = packets_in(goes_on);
	/* The timer has come twice if there are more packets than it writes at once. */
	room = (begin + PACKETS + 1) * SYNTH_PACKET <= full;
	if (room)
		ASSERT_TRUE(runs_beyond(goes_on, begin + PACKETS));
	EXPECT_EQ(packets_in(stops), stopped);
	aux_disable(goes_on);
	return room && newest_in(goes_on, SYNTH_START) <= begin;
}

/* An event of each PMU at once: none takes what is another's, or stops with it. */
TEST_F_TIMEOUT(aux_synth, beside_another_pmu, 60)
{
	struct aux_event other = { .fd = -1 };
	__u64 config = SYNTH_PERIOD(SLOW_PERIOD) | SYNTH_PACKETS(PACKETS) |
		       SYNTH_FROM(variant->from);
	__u64 tail = 0, other_tail = 0;
	struct synth_reader reader = { };
	unsigned int laps = 0, tries = 0;

	ASSERT_EQ(open_area(&self->event, config, PROT_READ | PROT_WRITE, 0, -1, false), 0);
	aux_use(strcmp(variant->pmu, "aux_synth") ? "aux_synth" : "aux_synth_large");
	ASSERT_EQ(open_area(&other, config, PROT_READ | PROT_WRITE, 0, -1, false), 0);
	while (laps < 2 * LAPS) {
		ASSERT_LT(tries++, 100 * LAPS);
		ASSERT_EQ(aux_enable(&self->event), 0);
		ASSERT_EQ(aux_enable(&other), 0);
		ASSERT_TRUE(runs_beyond(&self->event, self->reader.next + PACKETS));
		ASSERT_TRUE(runs_beyond(&other, reader.next + PACKETS));
		/* Stop one at any time between two ticks of the other. */
		work_for(SLOW_SECONDS * laps / (2 * LAPS));
		if (laps % 2)
			laps += other_goes_on(_metadata, &other, &self->event,
					      full_at(&self->event, tail));
		else
			laps += other_goes_on(_metadata, &self->event, &other,
					      full_at(&other, other_tail));
		EXPECT_TRUE(read_on(&self->event, &self->reader, &tail));
		EXPECT_TRUE(read_on(&other, &reader, &other_tail));
	}
	aux_close(&other);
}

static void trace_for(struct aux_event *event, double seconds)
{
	aux_enable(event);
	work_for(seconds);
	aux_disable(event);
}

/* An event of a PMU whose buffer is that of another event, with an area. Returns 0 or -errno. */
static int open_redirected(struct aux_event *event, const char *pmu, __u64 config, int owner,
			   int prot)
{
	struct perf_event_attr attr;

	aux_use(pmu);
	aux_attr(&attr);
	attr.config = config;
	event->fd = aux_open(&attr, 0, -1);
	if (event->fd < 0)
		return -errno;
	if (ioctl(event->fd, PERF_EVENT_IOC_SET_OUTPUT, owner))
		return -errno;
	return aux_map_area(event, AREA_PAGES * aux_page_size(), prot);
}

/* Let Intel PT leave the buffer's head where no packet of ours can lie. */
static int leave_odd_head(const struct aux_event *owner)
{
	struct aux_event trace = *owner;
	int ret = open_redirected(&trace, "intel_pt", 0, owner->fd, PROT_READ | PROT_WRITE);

	for (unsigned int i = 0; !ret && i < LAPS && !(aux_head(&trace) % SYNTH_PACKET); i++)
		trace_for(&trace, 0.00002);
	aux_unmap_area(&trace);
	close(trace.fd);
	return ret;
}

/*
 * An area continues at the head of an earlier one of its buffer. Another PMU may have left
 * that at any byte: each packet lies at a place of its own all the same.
 */
TEST_F_TIMEOUT(aux_synth, after_another_pmu, 60)
{
	struct perf_event_attr attr;
	__u64 begin, head;

	aux_use("intel_pt");
	if (aux_missing())
		SKIP(return, "%s", aux_missing());
	aux_sampler_attr(&attr, 0);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	for (unsigned int i = 0; i < 2; i++) {
		struct synth_reader reader = { };
		struct aux_event trace;

		ASSERT_EQ(aux_open_mapped(&self->event, &attr, 0, -1, DATA_PAGES), 0);
		ASSERT_EQ(leave_odd_head(&self->event), 0);
		begin = aux_head(&self->event);
		ASSERT_NE(begin % SYNTH_PACKET, 0);

		aux_set_tail(&self->event, begin);
		trace = self->event;
		ASSERT_EQ(open_redirected(&trace, variant->pmu, self->config, self->event.fd,
					  i ? PROT_READ : PROT_READ | PROT_WRITE), 0);
		trace_for(&trace, 0.002);
		begin = (begin + SYNTH_PACKET - 1) / SYNTH_PACKET * SYNTH_PACKET;
		head = aux_head(&trace);
		EXPECT_GT(head, begin);
		/* If the machine stood still, the first packets may be overwritten. */
		reader.anywhere = head - begin > trace.area_len;
		if (reader.anywhere)
			begin = head - trace.area_len;
		EXPECT_TRUE(synth_read(&reader, trace.area, trace.area_len, begin, head)) {
			TH_LOG("packet %llu of %s is %s", reader.next,
			       i ? "a read-only area" : "a full trace", reader.wrong);
		}
		aux_unmap_area(&trace);
		close(trace.fd);
		aux_close(&self->event);
	}
}

/* Terms that mean nothing are refused, each with EINVAL. */
TEST_F(aux_synth, bad_terms)
{
	static const __u64 bad[] = {
		SYNTH_PERIOD(9), SYNTH_PERIOD(1000) | SYNTH_PACKETS(1025),
		SYNTH_PERIOD(10) | SYNTH_PACKETS(41), SYNTH_FROM(3), SYNTH_ERROR(6),
		1ULL << 48, 1ULL << 63,
	};
	struct perf_event_attr attr;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		aux_attr(&attr);
		attr.config = bad[i];
		EXPECT_EQ(aux_open(&attr, 0, -1), -1);
		EXPECT_EQ(errno, EINVAL);
	}
	for (size_t i = 0; i < 2; i++) {
		aux_attr(&attr);
		*(i ? &attr.config2 : &attr.config1) = 1;
		EXPECT_EQ(aux_open(&attr, 0, -1), -1);
		EXPECT_EQ(errno, EINVAL);
	}
}

/* The bits of a term as the file says that perf reads; false if there is none like that. */
static bool read_term(const char *pmu, const char *term, unsigned int *first, unsigned int *last)
{
	char path[128];
	FILE *file;
	bool read;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/format/%s", pmu, term);
	file = fopen(path, "r");
	if (!file)
		return false;
	read = fscanf(file, "config:%u-%u", first, last) == 2;
	fclose(file);
	return read;
}

/* The files in sysfs say which bits a term has; there are no bits between terms. */
TEST_F(aux_synth, files_of_terms)
{
	static const struct {
		const char *name;
		__u64 one;
	} terms[] = {
		{ "period", SYNTH_PERIOD(1) }, { "packets", SYNTH_PACKETS(1) },
		{ "from", SYNTH_FROM(1) }, { "error", SYNTH_ERROR(1) },
		{ "every", SYNTH_EVERY(1) },
	};
	unsigned int first, last, next = 0;
	struct perf_event_attr attr;

	for (size_t i = 0; i < ARRAY_SIZE(terms); i++) {
		ASSERT_TRUE(read_term(variant->pmu, terms[i].name, &first, &last)) {
			TH_LOG("there is no term %s", terms[i].name);
		}
		EXPECT_EQ(1ULL << first, terms[i].one);
		EXPECT_EQ(first, next);
		next = last + 1;
	}
	aux_attr(&attr);
	attr.config = 1ULL << next;
	EXPECT_EQ(aux_open(&attr, 0, -1), -1);
	EXPECT_EQ(errno, EINVAL);
}

static long long open_as(uid_t uid)
{
	struct perf_event_attr attr;

	if (aux_become(uid))
		return 0;
	aux_attr(&attr);
	return aux_open(&attr, 0, -1) < 0 ? -errno : 1;
}

/* However little perf_event_paranoid asks, it takes CAP_PERFMON. */
TEST_F(aux_synth, not_for_everybody)
{
	if (aux_missing_become())
		SKIP(return, "%s", aux_missing_become());
	if (aux_read_number(AUX_PARANOID) > 2)
		SKIP(return, "perf_event_paranoid lets nobody open any event");
	EXPECT_EQ(aux_ask_child(open_as, NOBODY), -EACCES);
	EXPECT_EQ(aux_ask_child(open_as, 0), 1);
}

/* Whether an AUX record of some work ends where the first chunk, of 4 pages, does. */
static bool ends_at_chunk(struct __test_metadata *_metadata)
{
	const __u64 page = aux_page_size();
	static struct aux_record record;
	struct aux_event event = { };
	struct perf_event_attr attr;
	bool found = false;

	aux_attr(&attr);
	/* Half a page each tick: as many ticks where a page has 64 KiB. */
	attr.config = SYNTH_PERIOD(SLOW_PERIOD) | SYNTH_PACKETS(page / 2 / SYNTH_PACKET);
	/* The next power of two is a chunk. */
	attr.aux_watermark = 3 * page;
	ASSERT_EQ(aux_open_mapped(&event, &attr, 0, -1, DATA_PAGES), 0);
	ASSERT_EQ(aux_map_area(&event, AREA_PAGES * page, PROT_READ | PROT_WRITE), 0);
	ASSERT_EQ(aux_enable(&event), 0);
	ASSERT_TRUE(wait_for(&event, 5 * page));
	aux_disable(&event);
	while (aux_next(&event, &record)) {
		if (record.header.type == PERF_RECORD_AUX)
			found |= record.aux.offset + record.aux.size == 4 * page;
	}
	aux_close(&event);
	return found;
}

/* Hardware without scatter-gather ends a transaction where a chunk ends, other does not. */
TEST(chunks_end_transactions)
{
	static const char * const pmus[] = { "aux_synth_large", "aux_synth_no_sg" };
	int ends[2] = { 0, 0 };

	for (unsigned int i = 0; i < 2 * TRIES; i++) {
		aux_use(pmus[i % 2]);
		if (aux_missing())
			SKIP(return, "%s", aux_missing());
		ends[i % 2] += ends_at_chunk(_metadata);
	}
	/* By chance, a task may be switched out there. */
	EXPECT_LT(ends[0], TRIES);
	EXPECT_EQ(ends[1], TRIES);
}

/* On a kernel that is locked down, root may not open these events either. */
TEST(not_while_locked_down)
{
	struct perf_event_attr attr;

	if (aux_pmu_type() < 0)
		SKIP(return, "%s", aux_missing());
	if (!aux_is_locked_down())
		SKIP(return, "the kernel is not locked down");
	aux_attr(&attr);
	EXPECT_EQ(aux_open(&attr, 0, -1), -1);
	/* Without CAP_PERFMON, that is asked for first. */
	EXPECT_EQ(errno, aux_has_cap(CAP_PERFMON) ? EPERM : EACCES);
}

TEST_HARNESS_MAIN
