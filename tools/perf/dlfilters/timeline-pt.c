// SPDX-License-Identifier: GPL-2.0
/*
 * timeline-pt.c - what the packets of Intel PT tell of a hole, and samples do not
 *
 * perf tells a filter that the trace begins. If it had not ended before, packets tell why:
 * there is an OVF, or bytes are missing, or neither, and then perf's decoder has lost its
 * way. If it had ended, an OVF tells that more than the end may have been lost.
 *
 * So the packets of the trace are walked through as well, as far as they say that tracing
 * begins (TIP.PGE), ends (TIP.PGD) and overflows (OVF), and matched with the samples, one
 * by one. Their lengths are enough for that (SDM: "Trace Packets and Data Types").
 *
 * Where both disagree, TSC packets help: what follows is matched from the one on that was
 * the last before the sample. The part of the trace between two of them is a window.
 */
#include "timeline-pt.h"

#include <string.h>

#define PACKET_MAX	16

enum { PAD = 0x00, EXT = 0x02, MODE = 0x99, MTC = 0x59, TSC = 0x19 };
/* Second bytes of packets that begin with EXT. */
enum {
	LONG_TNT = 0xa3, PIP = 0x43, CBR = 0x03, TMA = 0x73, VMCS = 0xc8, OVF = 0xf3, PSB = 0x82,
	PSBEND = 0x23, MNT = 0xc3, TRACESTOP = 0x83, MWAIT = 0xc2, PWRE = 0x22, PWRX = 0xa2,
	EXSTOP = 0x62, EXSTOP_IP = 0xe2, BBP = 0x63, BEP = 0x33, BEP_IP = 0xb3, CFE = 0x13,
	EVD = 0x53,
};

static const u8 extended[256] = {
	[LONG_TNT] = 8, [PIP] = 8, [CBR] = 4, [TMA] = 7, [VMCS] = 7, [OVF] = 2, [PSB] = 16,
	[PSBEND] = 2, [MNT] = 11, [TRACESTOP] = 2, [MWAIT] = 10, [PWRE] = 4, [PWRX] = 7,
	[EXSTOP] = 2, [EXSTOP_IP] = 2, [BBP] = 3, [BEP] = 2, [BEP_IP] = 2, [CFE] = 4, [EVD] = 11,
	/* PTWRITE, of 4 and 8 bytes, without and with IP */
	[0x12] = 6, [0x32] = 10, [0x92] = 6, [0xb2] = 10,
};

/* The lower bits of packets with an address. */
enum { TIP = 0x0d, TIP_PGE = 0x11, TIP_PGD = 0x01, FUP = 0x1d };
/* What matters of a window. */
enum { NONE, BEGIN, END, OVERFLOW, GAP, TRUNCATED, PARTIAL };

/* Bytes of an IP, by the upper bits of the packet's first byte; 0 is for what is reserved. */
static const u8 ip_packet[8] = { 1, 3, 5, 7, 7, 0, 9, 0 };

static const u8 psb[PACKET_MAX] = {
	EXT, PSB, EXT, PSB, EXT, PSB, EXT, PSB, EXT, PSB, EXT, PSB, EXT, PSB, EXT, PSB
};

static size_t cyc_length(const u8 *p, size_t len)
{
	size_t n = 1;

	if (!(p[0] & 4))
		return n;
	while (n < len && p[n] & 1)
		n++;
	return n + 1;
}

/* The length of the packet at p; 0 if there is none. */
static size_t length(const struct tl_pt *pt, const u8 *p, size_t len)
{
	switch (p[0]) {
	case PAD:
		return 1;
	case MODE:
	case MTC:
		return 2;
	case TSC:
		return 8;
	case EXT:
		return len > 1 ? extended[p[1]] : 0;
	}
	if (pt->block && (p[0] & 7) == 4)
		return pt->wide ? 9 : 5;
	if ((p[0] & 3) == 3)
		return cyc_length(p, len);
	switch (p[0] & 0x1f) {
	case TIP:
	case TIP_PGE:
	case TIP_PGD:
	case FUP:
		return ip_packet[p[0] >> 5];
	}
	/* A short TNT. */
	return p[0] & 1 ? 0 : 1;
}

/*
 * The distance to a PSB that begins within the packet; 0 if none does. A full area may cut
 * off the end of a packet, and what follows is PSB.
 */
static size_t hidden_psb(const u8 *p, size_t packet, size_t len)
{
	size_t n;

	for (n = 1; n < packet && n + sizeof(psb) <= len; n++) {
		if (p[n] == EXT && !memcmp(p + n, psb, sizeof(psb)))
			return n;
	}
	return 0;
}

static void add(struct tl_pt *pt, u8 token)
{
	if (pt->nr < TL_PT_TOKENS)
		pt->tokens[pt->nr++] = token;
}

static void follow_extended(struct tl_pt *pt, const u8 *p)
{
	switch (p[1]) {
	case BBP:
		pt->block = true;
		pt->wide = !(p[2] & 0x80);
		break;
	case BEP:
	case BEP_IP:
		pt->block = false;
		break;
	case PSB:
		pt->in_psb = true;
		pt->block = false;
		break;
	case PSBEND:
		pt->in_psb = false;
		break;
	case OVF:
		add(pt, OVERFLOW);
		pt->lost = true;
		pt->in_psb = false;
		pt->block = false;
		break;
	}
}

/* Packets with an address. */
static void follow_ip(struct tl_pt *pt, u8 first)
{
	switch (first & 0x1f) {
	case TIP_PGE:
		add(pt, BEGIN);
		pt->lost = false;
		pt->anew = false;
		break;
	case TIP_PGD:
		add(pt, END);
		break;
	case FUP:
		/* The trace goes on behind an OVF, or it is on where perf begins to decode. */
		if (pt->in_psb ? pt->anew : pt->lost)
			add(pt, BEGIN);
		pt->anew = false;
		if (!pt->in_psb)
			pt->lost = false;
		break;
	}
}

/* Take what a packet says; true if it is a TSC. */
static bool follow(struct tl_pt *pt, const u8 *p)
{
	u64 tsc = 0;

	switch (p[0]) {
	case TSC:
		memcpy(&tsc, p + 1, 7);
		pt->to = tl_time_of_tsc(tsc);
		return true;
	case EXT:
		follow_extended(pt, p);
		return false;
	case MODE:
	case MTC:
		return false;
	}
	if ((p[0] & 3) == 1)
		follow_ip(pt, p[0]);
	return false;
}

static bool find_psb(struct tl_pt *pt)
{
	const u8 *p;
	size_t n;

	while (tl_bytes_peek(&pt->bytes, sizeof(psb)) >= sizeof(psb)) {
		p = tl_bytes_at(&pt->bytes);
		if (!memcmp(p, psb, sizeof(psb))) {
			pt->synced = true;
			return true;
		}
		p = memchr(p + 1, EXT, pt->bytes.len - 1);
		n = p ? (size_t)(p - tl_bytes_at(&pt->bytes)) : pt->bytes.len;
		tl_bytes_skip(&pt->bytes, n);
	}
	return false;
}

/* Go on in another piece of the trace; false if there is none. */
static bool over_gap(struct tl_pt *pt)
{
	if (!tl_bytes_over_gap(&pt->bytes))
		return false;
	add(pt, GAP);
	pt->synced = false;
	pt->anew = true;
	return true;
}

/* What is told of the place where the next packet is. */
static void add_losses(struct tl_pt *pt)
{
	u32 flags = tl_losses_until(&pt->losses, pt->bytes.pos);

	if (flags & PERF_AUX_FLAG_TRUNCATED)
		add(pt, TRUNCATED);
	if (flags & ~PERF_AUX_FLAG_TRUNCATED)
		add(pt, PARTIAL);
}

/* Follow packets up to a TSC; false at the end of a piece of trace that is whole. */
static bool up_to_tsc(struct tl_pt *pt)
{
	size_t avail, packet, n;
	const u8 *p;

	for (;;) {
		if (!pt->synced && !find_psb(pt))
			return false;
		avail = tl_bytes_peek(&pt->bytes, 2 * PACKET_MAX);
		if (!avail)
			return false;
		if (tl_rec.timeless && pt->losses.at <= pt->bytes.pos)
			add_losses(pt);
		p = tl_bytes_at(&pt->bytes);
		packet = length(pt, p, avail);
		if (!packet || packet > avail) {
			pt->synced = false;
			tl_bytes_skip(&pt->bytes, 1);
			continue;
		}
		n = hidden_psb(p, packet, avail);
		tl_bytes_skip(&pt->bytes, n ? : packet);
		/* The bytes are still there until the next peek. */
		if (!n && follow(pt, p))
			return true;
	}
}

/* The next window; false if there is none. */
static bool next_window(struct tl_pt *pt)
{
	if (pt->to == TL_NEVER)
		return false;
	pt->from = pt->to;
	pt->nr = 0;
	pt->at = 0;
	while (!up_to_tsc(pt)) {
		if (over_gap(pt))
			continue;
		pt->to = TL_NEVER;
		break;
	}
	return true;
}

/* The next token, in whichever window it is; NONE at the end of the trace. */
static u8 next_token(struct tl_pt *pt)
{
	while (pt->at == pt->nr) {
		if (!next_window(pt))
			return NONE;
	}
	return pt->tokens[pt->at];
}

/* Go on behind the first such token of the window in which a time is, if it has one. */
static void go_to(struct tl_pt *pt, u64 time, u8 token)
{
	u32 at;

	while (pt->to <= time && next_window(pt))
		;
	for (at = pt->at; at < pt->nr; at++) {
		if (pt->tokens[at] == token) {
			pt->at = at + 1;
			return;
		}
	}
}

void tl_pt_init(struct tl_pt *pt, s32 key)
{
	memset(pt, 0, sizeof(*pt));
	tl_bytes_init(&pt->bytes, key);
	if (tl_rec.timeless)
		tl_losses_init(&pt->losses, key);
	pt->anew = true;
}

void tl_pt_free(struct tl_pt *pt)
{
	tl_bytes_free(&pt->bytes);
	if (tl_rec.timeless)
		tl_losses_free(&pt->losses);
}

void tl_pt_end(struct tl_pt *pt, u64 time)
{
	if (next_token(pt) == END)
		pt->at++;
	else
		go_to(pt, time, END);
}

u32 tl_pt_begin(struct tl_pt *pt, u64 time)
{
	static const u32 bits[] = {
		[OVERFLOW] = TL_PT_OVERFLOW, [GAP] = TL_PT_GAP,
		[TRUNCATED] = TL_PT_TRUNCATED, [PARTIAL] = TL_PT_PARTIAL,
	};
	u32 met = 0;
	u8 token;

	while ((token = next_token(pt)) >= OVERFLOW) {
		met |= bits[token];
		pt->at++;
	}
	if (token == BEGIN) {
		pt->at++;
		return met;
	}
	go_to(pt, time, BEGIN);
	return met ? : TL_PT_ASTRAY;
}

/* Find when the next snapshot begins and ends. */
static void next_snapshot(struct tl_snapshots *snapshots)
{
	struct tl_pt *pt = &snapshots->pt;

	snapshots->end = snapshots->next_end;
	snapshots->begin = TL_NEVER;
	while (tl_bytes_over_gap(&pt->bytes)) {
		snapshots->next_end = tl_time_of_tsc(pt->bytes.read_at);
		pt->synced = false;
		if (!up_to_tsc(pt))
			continue;
		snapshots->begin = pt->to;
		return;
	}
}

void tl_snapshots_init(struct tl_snapshots *snapshots, s32 key)
{
	tl_pt_init(&snapshots->pt, key);
	/* The first one has none before it. */
	next_snapshot(snapshots);
	next_snapshot(snapshots);
}

void tl_snapshots_free(struct tl_snapshots *snapshots)
{
	tl_pt_free(&snapshots->pt);
}

bool tl_snapshots_gap(struct tl_snapshots *snapshots, u64 time)
{
	bool gap = false;

	while (snapshots->begin <= time && snapshots->begin != TL_NEVER) {
		gap |= snapshots->begin > snapshots->end;
		next_snapshot(snapshots);
	}
	return gap;
}
