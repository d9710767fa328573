// SPDX-License-Identifier: GPL-2.0-only
/*
 * Made-up streams for the kselftests' reader of synthetic AUX PMUs: it takes a whole one, and
 * finds the packet with which a stream is wrong, whichever that is.
 */
#include <stdio.h>
#include <string.h>

#include "aux_synth.h"
#include "points.h"

#define PACKETS		48
/* The area has room for so many, a power of two */
#define ROOM		16
#define SIZE		(ROOM * SYNTH_PACKET)
#define AREA_ID		7
#define EVENT_ID	11
#define CPU		2
#define TID		4242

static struct synth_packet stream[PACKETS];

static __u64 sum_of(const struct synth_packet *packet)
{
	__u64 sum = 0xcbf29ce484222325ULL, word;

	for (size_t i = 0; i < offsetof(struct synth_packet, sum); i += sizeof(word)) {
		memcpy(&word, (const char *)packet + i, sizeof(word));
		sum = (sum ^ word) * 0x100000001b3ULL;
	}
	return sum;
}

static void seal(struct synth_packet *packet)
{
	packet->sum = sum_of(packet);
}

/* The first packet is that of the start, the last one that of the stop. */
static void fill(void)
{
	for (unsigned int i = 0; i < PACKETS; i++) {
		stream[i] = (struct synth_packet) {
			.magic = SYNTH_MAGIC,
			.kind = !i ? SYNTH_START : i == PACKETS - 1 ? SYNTH_STOP : SYNTH_DATA,
			.context = i && i < PACKETS - 1 ? 1 : 3, .cpu = CPU, .tid = TID,
			.number = i, .position = i * SYNTH_PACKET, .time = 1000 + i,
			.event = EVENT_ID, .area = AREA_ID,
		};
		seal(&stream[i]);
	}
}

/* Read the stream as a reader who is never more than a lap behind, STEP packets at a time. */
static bool read_all(struct synth_reader *reader, unsigned int step)
{
	static char area[SIZE];

	memset(area, 0, sizeof(area));
	for (unsigned int i = 0; i < PACKETS; i += step) {
		for (unsigned int j = i; j < i + step; j++)
			memcpy(area + j % ROOM * SYNTH_PACKET, &stream[j], SYNTH_PACKET);
		if (!synth_read(reader, area, SIZE, i * SYNTH_PACKET,
				(i + step) * SYNTH_PACKET))
			return false;
	}
	return true;
}

static void whole(void)
{
	static const unsigned int steps[] = { 1, 2, 3, 4, 8, 12, 16 };
	bool good = true;

	for (unsigned int i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct synth_reader reader = { };

		fill();
		good &= read_all(&reader, steps[i]) && !reader.wrong && reader.packets == PACKETS &&
			reader.next == PACKETS && reader.starts == 1 && reader.stops == 1 &&
			reader.area == AREA_ID && reader.event == EVENT_ID && reader.cpu == CPU &&
			reader.time == 1000 + PACKETS - 1 && reader.contexts == 1 << 1 &&
			reader.tids == 1ULL << TID % 64 && reader.cpus == 1ULL << CPU;
	}
	point(good, "a whole stream is taken, however much at a time");
}

/* What several tasks, CPUs and contexts have written is noted by each of them. */
static void mixed(void)
{
	struct synth_reader reader = { };
	bool good;

	fill();
	for (unsigned int i = 0; i < PACKETS; i++) {
		stream[i].cpu = i & 1;
		stream[i].tid = 64 + i % 3;
		stream[i].context = 1 + i % 2;
		/* CPUs need not agree on the time. */
		stream[i].time = i & 1 ? i : 1000 + i;
		seal(&stream[i]);
	}
	good = read_all(&reader, 4);
	point(good && reader.cpus == 3 && reader.tids == 7 && reader.contexts == 6,
	      "tasks, CPUs and contexts are noted, and each CPU has its own time");
}

/* A clock may be slower than packets come. */
static void at_a_time(void)
{
	struct synth_reader reader = { };

	fill();
	for (unsigned int i = 0; i < PACKETS; i++) {
		stream[i].time = i / 4;
		seal(&stream[i]);
	}
	point(read_all(&reader, 4), "packets may be of one time");
}

static void lost(unsigned int at)
{
	for (unsigned int i = at; i < PACKETS; i++) {
		stream[i].number++;
		seal(&stream[i]);
	}
}

static void repeated(unsigned int at)
{
	for (unsigned int i = at; i < PACKETS; i++) {
		stream[i].number--;
		seal(&stream[i]);
	}
}

/* What was there a lap ago */
static void stale(unsigned int at)
{
	stream[at] = stream[at - ROOM];
}

static void torn(unsigned int at)
{
	memcpy((char *)&stream[at] + SYNTH_PACKET / 2, (char *)&stream[at - 1] + SYNTH_PACKET / 2,
	       SYNTH_PACKET / 2);
}

static void one_bit(unsigned int at)
{
	stream[at].time ^= 1;
}

static void misplaced(unsigned int at)
{
	stream[at].position += SYNTH_PACKET;
	seal(&stream[at]);
}

static void not_there(unsigned int at)
{
	memset(&stream[at], 0, SYNTH_PACKET);
}

static void another_area(unsigned int at)
{
	stream[at].area++;
	seal(&stream[at]);
}

static void another_event(unsigned int at)
{
	stream[at].event++;
	seal(&stream[at]);
}

static void older(unsigned int at)
{
	stream[at].time = stream[at - 1].time - 1;
	seal(&stream[at]);
}

static void below_kinds(unsigned int at)
{
	stream[at].kind = SYNTH_START - 1;
	seal(&stream[at]);
}

static void above_kinds(unsigned int at)
{
	stream[at].kind = SYNTH_STOP + 1;
	seal(&stream[at]);
}

static const struct fault {
	const char *name;
	void (*make)(unsigned int at);
	/* where it can begin */
	unsigned int from;
	const char *wrong;
} faults[] = {
	{ "a packet is lost", lost, 1, "after others that are lost" },
	{ "the first packet is lost", lost, 0, "not the first one" },
	{ "a number comes twice", repeated, 1, "repeated, or of an earlier lap" },
	{ "a packet is of the lap before", stale, ROOM, "repeated, or of an earlier lap" },
	{ "half a packet is the one before", torn, 1, "torn" },
	{ "a bit is wrong", one_bit, 0, "torn" },
	{ "a packet is at another's place", misplaced, 0,
	  "at another place than it was written to" },
	{ "nothing is there", not_there, 0, "no packet" },
	{ "a packet is of another area", another_area, 1, "of another area" },
	{ "a packet is of another event", another_event, 1, "of another event" },
	{ "the time goes back", older, 1, "older than the one before" },
	{ "a packet's kind is too small", below_kinds, 0, "of no kind" },
	{ "a packet's kind is too large", above_kinds, 0, "of no kind" },
};

static bool is_found(const struct fault *fault, unsigned int at)
{
	struct synth_reader reader = { };

	fill();
	fault->make(at);
	if (read_all(&reader, 8))
		return false;
	return reader.packets == at && reader.wrong && !strcmp(reader.wrong, fault->wrong);
}

static void faulty(const struct fault *fault)
{
	/* That the first packet is lost is a fault of its own. */
	unsigned int last = fault->make == lost && !fault->from ? 1 : PACKETS;
	unsigned int missed = 0;

	for (unsigned int at = fault->from; at < last; at++)
		missed += !is_found(fault, at);
	point(!missed, "%s: found, wherever it is", fault->name);
}

/* A reader of overwritten data begins anywhere, and not with nothing. */
static void anywhere(void)
{
	struct synth_reader reader = { .anywhere = true };
	bool good;

	fill();
	lost(0);
	good = read_all(&reader, 16);
	point(good && reader.next == PACKETS + 1, "any packet may be the first where it is said");
}

static void bounds(void)
{
	struct synth_reader reader = { };
	struct synth_packet *first = &stream[0];

	fill();
	point(!synth_read(&reader, stream, SIZE, 0, SYNTH_PACKET - 8) && reader.wrong &&
	      !strcmp(reader.wrong, "cut short"), "a part of a packet is none");
	reader = (struct synth_reader) { };
	point(synth_read(&reader, stream, SIZE, 0, 0) && synth_read(&reader, stream, SIZE, 8, 8) &&
	      !reader.packets, "nothing is right, too, anywhere");
	point(synth_is_packet(first, 0, SIZE) && synth_is_packet(first, SIZE, SIZE) &&
	      !synth_is_packet(first, SYNTH_PACKET, SIZE), "a packet lies at its place of any lap");
	first->magic++;
	seal(first);
	point(!synth_is_packet(first, 0, SIZE), "a packet begins as packets do");
	fill();
	first->sum++;
	point(!synth_is_packet(first, 0, SIZE), "a packet has its sum");
}

int main(void)
{
	whole();
	mixed();
	at_a_time();
	for (unsigned int i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		faulty(&faults[i]);
	anywhere();
	bounds();
	return end_points();
}
