// SPDX-License-Identifier: GPL-2.0-or-later
/* walk-packets.c - every byte of a stream must belong to a packet that libipt knows. */
#include "flow.h"

#include <inttypes.h>
#include <string.h>

const char *walk_packet_name(unsigned int type)
{
	static const char *const names[WALK_PACKET_TYPES] = {
		[ppt_pad] = "PAD",		[ppt_psb] = "PSB",
		[ppt_psbend] = "PSBEND",	[ppt_fup] = "FUP",
		[ppt_tip] = "TIP",		[ppt_tip_pge] = "TIP.PGE",
		[ppt_tip_pgd] = "TIP.PGD",	[ppt_tnt_8] = "TNT",
		[ppt_tnt_64] = "TNT-64",	[ppt_mode] = "MODE",
		[ppt_pip] = "PIP",		[ppt_vmcs] = "VMCS",
		[ppt_cbr] = "CBR",		[ppt_tsc] = "TSC",
		[ppt_tma] = "TMA",		[ppt_mtc] = "MTC",
		[ppt_cyc] = "CYC",		[ppt_stop] = "STOP",
		[ppt_ovf] = "OVF",		[ppt_mnt] = "MNT",
		[ppt_exstop] = "EXSTOP",	[ppt_mwait] = "MWAIT",
		[ppt_pwre] = "PWRE",		[ppt_pwrx] = "PWRX",
		[ppt_ptw] = "PTW",
#if LIBIPT_VERSION >= 0x201
		[ppt_cfe] = "CFE",		[ppt_evd] = "EVD",
#endif
	};

	return type < WALK_PACKET_TYPES && names[type] ? names[type] : "unknown";
}

static uint64_t packet_offset(struct pt_packet_decoder *decoder)
{
	uint64_t offset = 0;

	pt_pkt_get_offset(decoder, &offset);
	return offset;
}

static void packet_error(struct walk *walk, const struct stream *stream,
			 struct pt_packet_decoder *decoder, int status)
{
	walk->stats->packet_errors++;
	walk_print_error(walk, stream, "packet", packet_offset(decoder),
			 pt_errstr(pt_errcode(status)));
}

/* Packets that may stand between a FUP and the TIP of the same event. */
static bool is_between(enum pt_packet_type type)
{
	switch (type) {
	case ppt_pad: case ppt_mnt: case ppt_mtc: case ppt_cyc: case ppt_cbr: case ppt_tsc:
	case ppt_tma: case ppt_pip: case ppt_mode: case ppt_vmcs:
		return true;
	default:
		return false;
	}
}

/*
 * The stream ends, inside a packet only where data was lost. If that is a TIP whose FUP is there,
 * the FUP is as good as cut, too: perf's decoder waits for the TIP.
 */
static bool is_fair_end(const struct walk *walk, const struct stream *stream,
			struct pt_packet_decoder *decoder, uint64_t fup)
{
	uint64_t offset = packet_offset(decoder), from = fup < offset ? fup : offset;

	if (stream->cut && walk->show_cut && from < stream->size)
		printf("cut packet: %" PRIu64 " bytes of area %u at %" PRIu64 "\n",
		       stream->size - from, stream->idx, stream->offset + from);
	return offset == stream->size || stream->cut;
}

static void count_packets(struct walk *walk, const struct stream *stream,
			  struct pt_packet_decoder *decoder)
{
	struct walk_stats *stats = walk->stats;
	/* where the FUP is whose TIP has not come */
	uint64_t fup = UINT64_MAX, offset;
	struct pt_packet packet;
	int status;

	for (;;) {
		offset = packet_offset(decoder);
		status = pt_pkt_next(decoder, &packet, sizeof(packet));
		if (status >= 0) {
			if (packet.type < WALK_PACKET_TYPES)
				stats->packets[packet.type]++;
			if (packet.type == ppt_fup)
				fup = offset;
			else if (!is_between(packet.type))
				fup = UINT64_MAX;
			continue;
		}
		if (status == -pte_eos && is_fair_end(walk, stream, decoder, fup))
			return;
		packet_error(walk, stream, decoder, status);
		if (pt_pkt_sync_forward(decoder) < 0)
			return;
		stats->resyncs++;
	}
}

void walk_packets(struct walk *walk, const struct stream *stream)
{
	struct pt_packet_decoder *decoder;
	struct pt_config config;
	int status;

	walk_config(walk, stream, &config);
	decoder = pt_pkt_alloc_decoder(&config);
	if (!decoder)
		die("libipt refuses to make a packet decoder");
	status = pt_pkt_sync_forward(decoder);
	if (status < 0) {
		walk->stats->skipped += stream->size;
		if (!stream->starts_anywhere)
			packet_error(walk, stream, decoder, status);
	} else {
		uint64_t skipped = packet_offset(decoder);

		walk->stats->skipped += skipped;
		if (skipped > stream_padding(stream) && !stream->starts_anywhere) {
			walk->stats->packet_errors++;
			walk_print_error(walk, stream, "packet", 0,
					 "the stream does not begin with a PSB");
		}
		count_packets(walk, stream, decoder);
	}
	pt_pkt_free_decoder(decoder);
}
