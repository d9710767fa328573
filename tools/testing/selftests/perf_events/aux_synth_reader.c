// SPDX-License-Identifier: GPL-2.0-only
/* A reader of the stream of synthetic AUX PMUs: nothing lost, repeated, torn or stale. */
#include <string.h>

#include "aux_synth.h"

static __u64 sum_of(const struct synth_packet *packet)
{
	const __u64 *word = (const __u64 *)packet;
	__u64 sum = 0xcbf29ce484222325ULL;

	for (size_t i = 0; i < offsetof(struct synth_packet, sum) / sizeof(*word); i++)
		sum = (sum ^ word[i]) * 0x100000001b3ULL;
	return sum;
}

bool synth_is_packet(const struct synth_packet *packet, __u64 position, size_t size)
{
	return packet->magic == SYNTH_MAGIC && packet->sum == sum_of(packet) &&
	       !((packet->position ^ position) & (size - 1));
}

static const char *what_is_wrong(const struct synth_reader *reader,
				 const struct synth_packet *packet, __u64 position, size_t size)
{
	if (packet->magic != SYNTH_MAGIC)
		return "no packet";
	if (packet->sum != sum_of(packet))
		return "torn";
	if ((packet->position ^ position) & (size - 1))
		return "at another place than it was written to";
	if (packet->kind < SYNTH_START || packet->kind > SYNTH_STOP)
		return "of no kind";
	if (!reader->packets)
		return reader->anywhere || !packet->number ? NULL : "not the first one";
	if (packet->area != reader->area)
		return "of another area";
	if (packet->event != reader->event)
		return "of another event";
	if (packet->number < reader->next)
		return "repeated, or of an earlier lap";
	if (packet->number > reader->next)
		return "after others that are lost";
	if (packet->cpu == reader->cpu && packet->time < reader->time)
		return "older than the one before";
	return NULL;
}

static bool take(struct synth_reader *reader, const void *at, __u64 position, size_t size)
{
	struct synth_packet packet;

	/* The memory is shared, so look at it once. */
	memcpy(&packet, at, sizeof(packet));
	reader->wrong = what_is_wrong(reader, &packet, position, size);
	if (reader->wrong)
		return false;

	reader->packets++;
	reader->starts += packet.kind == SYNTH_START;
	reader->stops += packet.kind == SYNTH_STOP;
	reader->next = packet.number + 1;
	reader->area = packet.area;
	reader->event = packet.event;
	reader->time = packet.time;
	reader->cpu = packet.cpu;
	if (packet.kind == SYNTH_DATA)
		reader->contexts |= 1U << packet.context % 32;
	reader->tids |= 1ULL << packet.tid % 64;
	reader->cpus |= 1ULL << packet.cpu % 64;
	return true;
}

bool synth_read(struct synth_reader *reader, const void *area, size_t size, __u64 from, __u64 to)
{
	if ((to - from) % SYNTH_PACKET) {
		reader->wrong = "cut short";
		return false;
	}
	for (; from != to; from += SYNTH_PACKET)
		if (!take(reader, (const char *)area + from % size, from, size))
			return false;
	return true;
}
