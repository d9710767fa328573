// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A random sequence of packets is encoded, read back by libipt's packet
 * decoder, and must come back equal. IPs are put together again by the SDM's
 * last IP rule, written here a second time.
 *
 * Where libipt cannot check them, the bytes are read here: before 2.1 it does
 * not know CFE and EVD, and it looks for the HW bit of PWRE in another place
 * than the SDM's figure and perf.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <intel-pt.h>

#include "packets.h"

#define MASK(bits)		((1ull << (bits)) - 1)
#define ONE_IN(n)		(random_below(n) == 0)

#define CFE_EXT			0x13
#define CFE_LEN			4
#define CFE_TYPE_MASK		0x1f
#define CFE_IP			0x80
#define EVD_EXT			0x53
#define EVD_LEN			11
#define EVD_TYPE_MASK		0x3f

#define PWRE_HW			0x80
/* libipt takes CYC packets of at most nine bytes. */
#define CYC_BITS		61

/* PWRX wake reasons; one is set. */
#define WAKE_INTERRUPT		0x1
#define WAKE_STORE		0x4
#define WAKE_AUTONOMOUS		0x8

#define PAGE_OFFSET_KERNEL	0xffff800000000000ull

enum kind {
	PSB, PSBEND, OVF, STOP, CBR, TSC, TMA, MTC, CYC, PIP, EXEC, TSX, MWAIT, PWRE, PWRX,
	EXSTOP, CFE, EVD, PTW, TNT, IP, IP_NONE, KINDS,
};

/* One packet as it was meant; which members count depends on the kind. */
struct sent {
	enum kind kind;
	enum pt_ip_packet ip_packet;
	bool full, flag;
	uint8_t small[3];
	uint32_t offset, len;
	uint64_t value, value2;
};

static uint64_t state;

/* splitmix64: the same sequence everywhere for the same seed. */
static uint64_t random_u64(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static uint64_t random_below(uint64_t n)
{
	return random_u64() % n;
}

/* Numbers of all magnitudes, not mostly large ones. */
static uint64_t random_sized(void)
{
	return random_u64() >> random_below(64);
}

/* IPs that share any number of upper bits with the last one, and quite other ones. */
static uint64_t random_ip(uint64_t last)
{
	switch (random_below(6)) {
	case 0:
		return random_u64() & MASK(47);
	case 1:
		return random_u64() | PAGE_OFFSET_KERNEL;
	case 2:
		return random_u64();
	case 3:
		return last ^ 1ull << random_below(64);
	default:
		return last + (random_u64() & MASK(1 + random_below(34)));
	}
}

static void draw_power(struct sent *s)
{
	static const uint8_t wakes[] = { WAKE_INTERRUPT, WAKE_STORE, WAKE_AUTONOMOUS };

	s->small[0] = random_u64() & MASK(4);
	s->small[1] = random_u64() & MASK(4);
	s->small[2] = wakes[random_below(ARRAY_SIZE(wakes))];
}

static struct sent draw(uint64_t last)
{
	static const enum pt_ip_packet ip_packets[] = { PT_TIP, PT_TIP_PGE, PT_TIP_PGD, PT_FUP };
	struct sent s = {
		.kind = random_below(KINDS),
		.ip_packet = ip_packets[random_below(ARRAY_SIZE(ip_packets))],
		.flag = random_u64() & 1,
		.full = ONE_IN(4),
		.value = random_sized(),
		.value2 = random_sized(),
		.small = { random_u64() },
	};

	/* A third of all are IPs, and PSB, which resets the last IP, is rarer. */
	if (ONE_IN(3))
		s.kind = IP;
	if (s.kind == PSB && !ONE_IN(8))
		s.kind = TNT;
	if (s.kind == IP)
		s.value = random_ip(last);
	if (s.kind == TNT) {
		s.small[0] = 1 + random_below(PT_TNT_LONG_MAX);
		s.value = random_u64() & MASK(s.small[0]);
	}
	if (s.kind == CYC)
		s.value &= MASK(CYC_BITS);
	if (s.kind == PWRE || s.kind == PWRX)
		draw_power(&s);
	return s;
}

static size_t encode_plain(const struct sent *s, uint8_t *out)
{
	switch (s->kind) {
	case PSB:
		return pt_packet_psb(out);
	case PSBEND:
		return pt_packet_psbend(out);
	case OVF:
		return pt_packet_ovf(out);
	case STOP:
		return pt_packet_tracestop(out);
	case CBR:
		return pt_packet_cbr(out, s->small[0]);
	case TSC:
		return pt_packet_tsc(out, s->value);
	case TMA:
		return pt_packet_tma(out, s->value, s->value2 & MASK(9));
	case MTC:
		return pt_packet_mtc(out, s->small[0]);
	case CYC:
		return pt_packet_cyc(out, s->value);
	case PIP:
		return pt_packet_pip(out, s->value & MASK(52) & ~MASK(5), s->flag);
	case EXEC:
		return pt_packet_mode_exec(out, s->small[0] &
				(PT_MODE_EXEC_CSL | PT_MODE_EXEC_CSD | PT_MODE_EXEC_IF));
	default:
		return pt_packet_mode_tsx(out);
	}
}

static size_t encode(const struct sent *s, uint8_t *out, uint64_t *last)
{
	switch (s->kind) {
	case MWAIT:
		return pt_packet_mwait(out, s->value, s->value2);
	case PWRE:
		return pt_packet_pwre(out, s->flag, s->small[0], s->small[1]);
	case PWRX:
		return pt_packet_pwrx(out, s->small[0], s->small[1], s->small[2]);
	case EXSTOP:
		return pt_packet_exstop(out, s->flag);
	case CFE:
		return pt_packet_cfe(out, s->value & CFE_TYPE_MASK, s->small[0], s->flag);
	case EVD:
		return pt_packet_evd(out, s->small[0] & EVD_TYPE_MASK, s->value);
	case PTW:
		return pt_packet_ptw(out, s->value, s->full ? 4 : 8, s->flag);
	case TNT:
		return pt_packet_tnt(out, s->value, s->small[0]);
	case IP:
		return pt_packet_ip(out, s->ip_packet, s->value, last, s->full);
	case IP_NONE:
		return pt_packet_ip_none(out, s->ip_packet);
	default:
		return encode_plain(s, out);
	}
}

static uint64_t le(const uint8_t *bytes, size_t n)
{
	return n ? bytes[0] | le(bytes + 1, n - 1) << 8 : 0;
}

/* The lengths of what an older libipt does not know. */
static int unknown_packet(struct pt_packet_unknown *unknown, const struct pt_config *config,
			  const uint8_t *pos, void *context)
{
	(void)context;
	if (config->end - pos < EVD_LEN)
		return -pte_eos;
	unknown->packet = pos;
	if (pos[0] == 0x02 && pos[1] == CFE_EXT)
		return CFE_LEN;
	return pos[0] == 0x02 && pos[1] == EVD_EXT ? EVD_LEN : -pte_bad_opc;
}

static int sext48_negative(uint64_t ip)
{
	return ip >> 47 & 1;
}

/* What an IP payload means after *@last (SDM, "IP Compression"). */
static uint64_t decompress(const struct pt_packet_ip *ip, uint64_t last)
{
	switch (ip->ipc) {
	case pt_ipc_update_16:
		return (last & ~MASK(16)) | ip->ip;
	case pt_ipc_update_32:
		return (last & ~MASK(32)) | ip->ip;
	case pt_ipc_update_48:
		return (last & ~MASK(48)) | ip->ip;
	case pt_ipc_sext_48:
		return sext48_negative(ip->ip) ? ip->ip | ~MASK(48) : ip->ip;
	default:
		return ip->ip;
	}
}

static bool same_ip(const struct sent *s, const struct pt_packet *got, uint64_t *last)
{
	enum pt_ip_compression ipc = got->payload.ip.ipc;
	enum pt_packet_type type = s->ip_packet == PT_TIP ? ppt_tip :
				   s->ip_packet == PT_TIP_PGE ? ppt_tip_pge :
				   s->ip_packet == PT_TIP_PGD ? ppt_tip_pgd : ppt_fup;

	if (got->type != type)
		return false;
	if (s->kind == IP_NONE)
		return ipc == pt_ipc_suppressed;
	/* "In full" is for a reader that does not know the last IP. */
	if (ipc == pt_ipc_suppressed || (s->full && ipc != pt_ipc_sext_48 && ipc != pt_ipc_full))
		return false;
	*last = decompress(&got->payload.ip, *last);
	return *last == s->value;
}

static bool same_time(const struct sent *s, const struct pt_packet *got)
{
	switch (s->kind) {
	case CBR:
		return got->type == ppt_cbr && got->payload.cbr.ratio == s->small[0];
	case TSC:
		return got->type == ppt_tsc && got->payload.tsc.tsc == (s->value & MASK(56));
	case TMA:
		return got->type == ppt_tma && got->payload.tma.ctc == (s->value & MASK(16)) &&
		       got->payload.tma.fc == (s->value2 & MASK(9));
	case MTC:
		return got->type == ppt_mtc && got->payload.mtc.ctc == s->small[0];
	default:
		return got->type == ppt_cyc && got->payload.cyc.value == s->value;
	}
}

static bool same_mode(const struct sent *s, const struct pt_packet *got)
{
	const struct pt_packet_mode *mode = &got->payload.mode;

	switch (s->kind) {
	case PIP:
		return got->type == ppt_pip && got->payload.pip.nr == s->flag &&
		       got->payload.pip.cr3 == (s->value & MASK(52) & ~MASK(5));
	case EXEC:
		return got->type == ppt_mode && mode->leaf == pt_mol_exec &&
		       mode->bits.exec.csl == !!(s->small[0] & PT_MODE_EXEC_CSL) &&
		       mode->bits.exec.csd == !!(s->small[0] & PT_MODE_EXEC_CSD);
	default:
		return got->type == ppt_mode && mode->leaf == pt_mol_tsx &&
		       !mode->bits.tsx.intx && !mode->bits.tsx.abrt;
	}
}

static bool same_power(const struct sent *s, const struct pt_packet *got, const uint8_t *raw)
{
	const struct pt_packet_pwre *in = &got->payload.pwre;
	const struct pt_packet_pwrx *ex = &got->payload.pwrx;

	switch (s->kind) {
	case MWAIT:
		return got->type == ppt_mwait && got->payload.mwait.hints == (s->value & MASK(8)) &&
		       got->payload.mwait.ext == (s->value2 & MASK(2));
	case PWRE:
		return got->type == ppt_pwre && in->state == s->small[0] &&
		       in->sub_state == s->small[1] && raw[2] == (s->flag ? PWRE_HW : 0);
	case PWRX:
		return got->type == ppt_pwrx && ex->last == s->small[0] &&
		       ex->deepest == s->small[1] &&
		       ex->interrupt == (s->small[2] == WAKE_INTERRUPT) &&
		       ex->store == (s->small[2] == WAKE_STORE) &&
		       ex->autonomous == (s->small[2] == WAKE_AUTONOMOUS);
	default:
		return got->type == ppt_exstop && got->payload.exstop.ip == s->flag;
	}
}

static bool same_event(const struct sent *s, const struct pt_packet *got, const uint8_t *raw)
{
	const struct pt_packet_ptw *ptw = &got->payload.ptw;

	switch (s->kind) {
	case CFE:
		return raw[1] == CFE_EXT && raw[3] == s->small[0] &&
		       raw[2] == ((s->value & CFE_TYPE_MASK) | (s->flag ? CFE_IP : 0));
	case EVD:
		return raw[1] == EVD_EXT && raw[2] == (s->small[0] & EVD_TYPE_MASK) &&
		       le(raw + 3, 8) == s->value;
	default:
		return got->type == ppt_ptw && ptw->ip == s->flag &&
		       pt_ptw_size(ptw->plc) == (s->full ? 4 : 8) &&
		       ptw->payload == (s->full ? s->value & MASK(32) : s->value);
	}
}

static bool same(const struct sent *s, const struct pt_packet *got, const uint8_t *raw,
		 uint64_t *last)
{
	switch (s->kind) {
	case PSB:
		*last = 0;
		return got->type == ppt_psb;
	case PSBEND:
		return got->type == ppt_psbend;
	case OVF:
		return got->type == ppt_ovf;
	case STOP:
		return got->type == ppt_stop;
	case CBR: case TSC: case TMA: case MTC: case CYC:
		return same_time(s, got);
	case PIP: case EXEC: case TSX:
		return same_mode(s, got);
	case MWAIT: case PWRE: case PWRX: case EXSTOP:
		return same_power(s, got, raw);
	case CFE: case EVD: case PTW:
		return same_event(s, got, raw);
	case TNT:
		return (got->type == ppt_tnt_8 || got->type == ppt_tnt_64) &&
		       got->payload.tnt.bit_size == s->small[0] &&
		       got->payload.tnt.payload == s->value;
	default:
		return same_ip(s, got, last);
	}
}

static size_t encode_all(struct sent *sent, unsigned long packets, uint8_t *trace)
{
	uint64_t last = 0;
	size_t bytes = 0;

	for (unsigned long i = 0; i < packets; i++) {
		struct sent *s = &sent[i];

		*s = i ? draw(last) : (struct sent) { .kind = PSB };
		if (s->kind == PSB)
			last = 0;
		s->offset = bytes;
		s->len = encode(s, trace + bytes, &last);
		bytes += s->len;
	}
	return bytes;
}

static const char *const kind_names[KINDS] = {
	[PSB] = "PSB", [PSBEND] = "PSBEND", [OVF] = "OVF", [STOP] = "TraceStop", [CBR] = "CBR",
	[TSC] = "TSC", [TMA] = "TMA", [MTC] = "MTC", [CYC] = "CYC", [PIP] = "PIP",
	[EXEC] = "MODE.Exec", [TSX] = "MODE.TSX", [MWAIT] = "MWAIT", [PWRE] = "PWRE",
	[PWRX] = "PWRX", [EXSTOP] = "EXSTOP", [CFE] = "CFE", [EVD] = "EVD", [PTW] = "PTW",
	[TNT] = "TNT", [IP] = "TIP, TIP.PGE, TIP.PGD, FUP", [IP_NONE] = "the same without an IP",
};

static unsigned long drawn[KINDS], wrong[KINDS];

static void complain(const struct sent *s, const uint8_t *raw, int len)
{
	if (wrong[s->kind]++)
		return;
	diag("%s at offset %" PRIu32 ": value 0x%" PRIx64 " 0x%" PRIx64 " flag %d full %d small %d %d %d",
	     kind_names[s->kind], s->offset, s->value, s->value2, s->flag, s->full, s->small[0],
	     s->small[1], s->small[2]);
	diag("libipt says %d%s%s", len, len < 0 ? ": " : " bytes",
	     len < 0 ? pt_errstr(pt_errcode(len)) : "");
	diag_bytes("encoded", raw, s->len);
}

static void compare_all(struct pt_packet_decoder *decoder, const struct sent *sent,
			unsigned long packets, const uint8_t *trace)
{
	uint64_t last = 0;

	for (unsigned long i = 0; i < packets; i++) {
		const struct sent *s = &sent[i];
		struct pt_packet got = { 0 };
		int len;

		pt_pkt_sync_set(decoder, s->offset);
		len = pt_pkt_next(decoder, &got, sizeof(got));
		drawn[s->kind]++;
		if (len != (int)s->len || !same(s, &got, trace + s->offset, &last)) {
			complain(s, trace + s->offset, len);
			/* One wrong IP must not make all later ones wrong. */
			if (s->kind == IP)
				last = s->value;
		}
	}
}

void test_random(unsigned long packets, uint64_t seed)
{
	struct sent *sent = calloc(packets, sizeof(*sent));
	uint8_t *trace = calloc(packets + 1, PT_PACKET_MAX);
	struct pt_packet_decoder *decoder;
	struct pt_config config;

	if (!sent || !trace) {
		fprintf(stderr, "packets: no memory for %lu packets\n", packets);
		exit(1);
	}
	state = seed;
	pt_config_init(&config);
	config.begin = trace;
	/* The last packet is followed by PAD. */
	config.end = trace + encode_all(sent, packets, trace) + PT_PACKET_MAX;
	config.decode.callback = unknown_packet;
	decoder = pt_pkt_alloc_decoder(&config);
	if (!point(decoder, "random: libipt takes %lu packets, seed %" PRIu64, packets, seed))
		exit(1);
	compare_all(decoder, sent, packets, trace);
	for (int kind = 0; kind < KINDS; kind++)
		point(drawn[kind] && !wrong[kind], "random: %s, %lu times",
		      kind_names[kind], drawn[kind]);
	pt_pkt_free_decoder(decoder);
	free(sent);
	free(trace);
}
