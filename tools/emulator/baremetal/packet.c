// SPDX-License-Identifier: GPL-2.0-only
/*
 * A strict parser of Intel PT packets and the comparison of a trace with what
 * a test expects. A byte that begins no packet ends the parse in error.
 */
#include "pt.h"

struct trace trace;

static const char *const names[] = {
	[P_END] = "END", [P_PAD] = "PAD", [P_TNT] = "TNT", [P_TIP] = "TIP",
	[P_PGE] = "TIP.PGE", [P_PGD] = "TIP.PGD", [P_FUP] = "FUP", [P_PIP] = "PIP",
	[P_MODE_EXEC] = "MODE.Exec", [P_MODE_TSX] = "MODE.TSX", [P_TSC] = "TSC",
	[P_TMA] = "TMA", [P_MTC] = "MTC", [P_CYC] = "CYC", [P_CBR] = "CBR",
	[P_PSB] = "PSB", [P_PSBEND] = "PSBEND", [P_OVF] = "OVF", [P_STOP] = "STOP",
	[P_VMCS] = "VMCS", [P_MNT] = "MNT", [P_PTW] = "PTW", [P_EXSTOP] = "EXSTOP",
	[P_MWAIT] = "MWAIT", [P_PWRE] = "PWRE", [P_PWRX] = "PWRX", [P_CFE] = "CFE",
	[P_EVD] = "EVD", [P_BBP] = "BBP", [P_BIP] = "BIP", [P_BEP] = "BEP", [P_BAD] = "BAD",
};

#define PSB_LENGTH	16
#define OPCODE_EXT	0x02
#define OPCODE_MODE	0x99
#define OPCODE_TSC	0x19
#define OPCODE_MTC	0x59
#define IP_OPCODE_MASK	0x1f
#define CYC_OPCODE_MASK	0x03
#define BIP_OPCODE_MASK	0x07
#define BIP_OPCODE	0x04
#define BBP_SHORT	0x80

const char *pkt_name(int type)
{
	return names[type];
}

static u64 load(const u8 *p, u32 n)
{
	u64 v = 0;

	while (n--)
		v = v << 8 | p[n];
	return v;
}

static u64 sign_extend(u64 v, u32 bits)
{
	return (u64)((long)(v << (64 - bits)) >> (64 - bits));
}

static u8 ip_payload_length(u8 ip_bytes)
{
	static const u8 length[8] = { 0, 2, 4, 6, 6, 0xff, 8, 0xff };

	return length[ip_bytes];
}

static u64 last_ip;
/* Bytes of the items of the block that is being parsed, 0: it is in none. */
static u8 item_bytes;

/* SDM "FUP/TIP IP Reconstruction". */
static u64 rebuild_ip(u8 ip_bytes, u64 payload)
{
	switch (ip_bytes) {
	case IPBYTES_16:
		return (last_ip & GENMASK(63, 16)) | payload;
	case IPBYTES_32:
		return (last_ip & GENMASK(63, 32)) | payload;
	case IPBYTES_48_SEXT:
		return sign_extend(payload, 48);
	case IPBYTES_48:
		return (last_ip & GENMASK(63, 48)) | payload;
	default:
		return payload;
	}
}

/* Packets with an IP, by those bits of the opcode that are not the length of it. */
static const u8 ip_types[IP_OPCODE_MASK + 1] = {
	[0x0d] = P_TIP, [0x11] = P_PGE, [0x01] = P_PGD, [0x1d] = P_FUP,
};

static bool parse_ip(struct pkt *p, const u8 *b, u64 left)
{
	u8 length = ip_payload_length(b[0] >> 5);

	if (length == 0xff || left < 1u + length)
		return false;
	p->ip_bytes = b[0] >> 5;
	p->len = 1 + length;
	if (length) {
		p->val = rebuild_ip(p->ip_bytes, load(b + 1, length));
		last_ip = p->val;
	}
	return true;
}

/* Bits below the stop bit, oldest in the highest place. */
static void parse_tnt(struct pkt *p, u64 payload)
{
	p->aux = 63 - __builtin_clzl(payload);
	p->val = payload & ~(1ul << p->aux);
}

/* Opcodes of two bytes with a fixed length: the second byte, type, length. */
static const struct {
	u8 opcode, type, len;
} extended[] = {
	{ 0x23, P_PSBEND, 2 },	{ 0xf3, P_OVF, 2 },	{ 0x83, P_STOP, 2 },
	{ 0xa3, P_TNT, 8 },	{ 0x43, P_PIP, 8 },	{ 0x03, P_CBR, 4 },
	{ 0x73, P_TMA, 7 },	{ 0xc8, P_VMCS, 7 },	{ 0x62, P_EXSTOP, 2 },
	{ 0xe2, P_EXSTOP, 2 },	{ 0xc2, P_MWAIT, 10 },	{ 0x22, P_PWRE, 4 },
	{ 0xa2, P_PWRX, 7 },	{ 0x12, P_PTW, 6 },	{ 0x92, P_PTW, 6 },
	{ 0x32, P_PTW, 10 },	{ 0xb2, P_PTW, 10 },	{ 0x13, P_CFE, 4 },
	{ 0x53, P_EVD, 11 },	{ 0x82, P_PSB, PSB_LENGTH },	{ 0xc3, P_MNT, 11 },
	{ 0x63, P_BBP, 3 },	{ 0x33, P_BEP, 2 },	{ 0xb3, P_BEP, 2 },
};

#define EXT_FLAG_IP	0x80

static bool parse_psb(const u8 *b)
{
	for (u32 i = 0; i < PSB_LENGTH; i++)
		if (b[i] != (i & 1 ? 0x82 : OPCODE_EXT))
			return false;
	last_ip = 0;
	return true;
}

static bool parse_extended_payload(struct pkt *p, const u8 *b)
{
	u64 v = load(b + 2, p->len - 2 > 8 ? 8 : p->len - 2);

	p->val = v;
	switch (p->type) {
	case P_PSB:
		return parse_psb(b);
	case P_TNT:
		if (v >= 2)
			parse_tnt(p, v);
		return v >= 2;
	case P_PIP:
		p->flag = v & 1;
		p->val = v >> 1 << 5;
		break;
	case P_CBR:
		p->val = v & 0xff;
		break;
	case P_TMA:
		p->val = v & 0xffff;	/* CTC; FastCounter in flag and aux */
		p->flag = b[6] & 1;
		p->aux = b[5];
		return b[4] == 0;
	case P_EXSTOP:
	case P_BEP:
		p->flag = !!(b[1] & EXT_FLAG_IP);
		break;
	case P_BBP:
		item_bytes = b[2] & BBP_SHORT ? 4 : 8;
		p->aux = item_bytes;
		p->val = b[2] & GENMASK(4, 0);
		return !(b[2] & GENMASK(6, 5));
	case P_PTW:
		p->flag = !!(b[1] & EXT_FLAG_IP);
		p->aux = p->len - 2;
		break;
	case P_CFE:
		p->flag = !!(b[2] & EXT_FLAG_IP);
		p->aux = b[2] & GENMASK(4, 0);
		p->val = b[3];
		break;
	case P_MNT:
		p->val = load(b + 3, 8);
		return b[2] == 0x88;
	case P_EVD:
		p->aux = b[2] & GENMASK(5, 0);
		p->val = load(b + 3, 8);
		break;
	}
	return true;
}

static bool parse_extended(struct pkt *p, const u8 *b, u64 left)
{
	if (left < 2)
		return false;
	for (u32 i = 0; i < ARRAY_SIZE(extended); i++) {
		if (b[1] != extended[i].opcode)
			continue;
		p->type = extended[i].type;
		p->len = extended[i].len;
		return left >= p->len && parse_extended_payload(p, b);
	}
	return false;
}

static bool parse_cyc(struct pkt *p, const u8 *b, u64 left)
{
	u32 shift = 5;
	bool more = b[0] & BIT(2);

	p->type = P_CYC;
	p->val = b[0] >> 3;
	for (p->len = 1; more; p->len++, shift += 7) {
		if (p->len >= left || shift > 63)
			return false;
		p->val |= (u64)(b[p->len] >> 1) << shift;
		more = b[p->len] & 1;
	}
	return true;
}

static bool parse_mode(struct pkt *p, const u8 *b, u64 left)
{
	p->len = 2;
	if (left < 2)
		return false;
	p->type = b[1] >> 5 == 0 ? P_MODE_EXEC : P_MODE_TSX;
	p->val = b[1] & GENMASK(4, 0);
	return b[1] >> 5 <= 1;
}

static bool parse_fixed(struct pkt *p, int type, u32 len, const u8 *b, u64 left)
{
	p->type = type;
	p->len = len;
	if (left < len)
		return false;
	p->val = load(b + 1, len - 1);
	return true;
}

/* In a block there are items alone, the beginning of a next one, and the end. */
static bool parse_block(struct pkt *p, const u8 *b, u64 left)
{
	if ((b[0] & BIP_OPCODE_MASK) == BIP_OPCODE) {
		p->aux = b[0] >> 3;
		return parse_fixed(p, P_BIP, 1 + item_bytes, b, left);
	}
	if (b[0] != OPCODE_EXT || !parse_extended(p, b, left))
		return false;
	if (p->type != P_BBP)
		item_bytes = 0;
	return p->type == P_BBP || p->type == P_BEP || p->type == P_OVF;
}

static bool parse_one(struct pkt *p, const u8 *b, u64 left)
{
	if (item_bytes)
		return parse_block(p, b, left);
	if (b[0] == 0)
		return parse_fixed(p, P_PAD, 1, b, left);
	if (b[0] == OPCODE_EXT)
		return parse_extended(p, b, left);
	if ((b[0] & CYC_OPCODE_MASK) == CYC_OPCODE_MASK)
		return parse_cyc(p, b, left);
	if (!(b[0] & 1)) {
		p->type = P_TNT;
		p->len = 1;
		parse_tnt(p, b[0] >> 1);
		return true;
	}
	switch (b[0]) {
	case OPCODE_MODE:
		return parse_mode(p, b, left);
	case OPCODE_TSC:
		return parse_fixed(p, P_TSC, 8, b, left);
	case OPCODE_MTC:
		return parse_fixed(p, P_MTC, 2, b, left);
	}
	p->type = ip_types[b[0] & IP_OPCODE_MASK];
	return p->type && parse_ip(p, b, left);
}

bool trace_parse(const u8 *buf, u64 bytes)
{
	bool in_psb = false;
	u64 pos = 0;

	last_ip = 0;
	item_bytes = 0;
	trace.n = 0;
	trace.bytes = bytes;
	while (pos < bytes && trace.n < MAX_PKTS) {
		struct pkt *p = &trace.pkt[trace.n++];

		*p = (struct pkt) { .offset = pos };
		if (!parse_one(p, buf + pos, bytes - pos)) {
			p->type = P_BAD;
			p->len = 1;
			p->val = load(buf + pos, 8);
			return false;
		}
		if (p->type == P_PSBEND || p->type == P_OVF)
			in_psb = false;
		p->in_psb = in_psb;
		if (p->type == P_PSB)
			in_psb = true;
		pos += p->len;
	}
	return pos == bytes;
}

bool trace_collect(void)
{
	return trace_parse(OUTPUT_BUFFER, pt_output_bytes());
}

void pkt_print(const struct pkt *p)
{
	print("#  +%04x %s%s", p->offset, p->in_psb ? "  " : "", names[p->type]);
	switch (p->type) {
	case P_TNT:
		print(" ");
		for (int i = p->aux - 1; i >= 0; i--)
			print("%c", p->val >> i & 1 ? 'T' : 'N');
		break;
	case P_TIP:
	case P_PGE:
	case P_PGD:
	case P_FUP:
		if (p->ip_bytes)
			print(" 0x%lx (%u)", p->val, p->ip_bytes);
		else
			print(" no IP");
		break;
	default:
		print(" 0x%lx aux %u flag %u", p->val, p->aux, p->flag);
	}
	print("\n");
}

#define DUMP_MAX	48

void trace_dump(void)
{
	diag("trace of %lu bytes, %u packets:", trace.bytes, trace.n);
	for (u32 i = 0; i < trace.n && i < DUMP_MAX; i++)
		pkt_print(&trace.pkt[i]);
}

u32 trace_count(int type)
{
	u32 n = 0;

	for (u32 i = 0; i < trace.n; i++)
		n += trace.pkt[i].type == type;
	return n;
}

const struct pkt *trace_find(int type, u32 nth)
{
	for (u32 i = 0; i < trace.n; i++)
		if (trace.pkt[i].type == type && !nth--)
			return &trace.pkt[i];
	return NULL;
}

static bool is_time(const struct pkt *p)
{
	switch (p->type) {
	case P_PAD: case P_CBR: case P_TSC: case P_TMA: case P_MTC: case P_CYC:
		return true;
	}
	return false;
}

struct pkt *trace_next(const struct pkt *p)
{
	for (u32 i = p - trace.pkt + 1; i < trace.n; i++)
		if (!is_time(&trace.pkt[i]))
			return &trace.pkt[i];
	return NULL;
}

/* Not compared by trace_match(): status within PSB+, padding, time. */
static bool uncompared(const struct pkt *p)
{
	return p->in_psb || p->type == P_PSB || p->type == P_PSBEND || p->type == P_MNT ||
	       is_time(p);
}

static bool tnt_match(u32 *pos, const char *bits)
{
	for (; *pos < trace.n; ++*pos) {
		const struct pkt *p = &trace.pkt[*pos];

		if (uncompared(p))
			continue;
		if (p->type != P_TNT)
			break;
		for (int i = p->aux - 1; i >= 0; i--, bits++)
			if (*bits != (p->val >> i & 1 ? 'T' : 'N'))
				return false;
	}
	return *bits == '\0';
}

static bool one_match(const struct pkt *p, const struct expect *e)
{
	if (p->type != e->type)
		return false;
	switch (p->type) {
	case P_TIP:
	case P_PGE:
	case P_PGD:
	case P_FUP:
		return e->no_ip ? !p->ip_bytes : p->ip_bytes && p->val == e->val;
	case P_STOP:
	case P_OVF:
		return true;
	default:
		return (e->any || p->val == e->val) && p->aux == e->aux && p->flag == e->flag;
	}
}

#define MODE_UNKNOWN	~0ul

/* What the decoder knows of the mode when it comes to the packet at @pos. */
static u64 mode_before(u32 pos)
{
	while (pos--)
		if (trace.pkt[pos].type == P_MODE_EXEC)
			return trace.pkt[pos].val;
	return MODE_UNKNOWN;
}

/* A MODE.Exec that nothing demands but the SDM allows: nothing new, TIP.PGE follows. */
static bool redundant_mode(u32 pos)
{
	u64 known = mode_before(pos);

	if (trace.pkt[pos].type != P_MODE_EXEC ||
	    (known != MODE_UNKNOWN && known != trace.pkt[pos].val))
		return false;
	while (++pos < trace.n && uncompared(&trace.pkt[pos]))
		;
	return pos < trace.n && trace.pkt[pos].type == P_PGE;
}

static bool sequence_match(const struct expect *e, u32 n)
{
	u32 pos = 0, i = 0;

	while (pos < trace.n) {
		const struct pkt *p = &trace.pkt[pos];

		if (uncompared(p)) {
			pos++;
			continue;
		}
		if (i < n && e[i].type == P_TNT) {
			if (!tnt_match(&pos, e[i].bits))
				return false;
			i++;
			continue;
		}
		if (i < n && one_match(p, &e[i])) {
			i++;
			pos++;
			continue;
		}
		if (!redundant_mode(pos))
			return false;
		pos++;
	}
	return i == n;
}

static void expect_print(const struct expect *e)
{
	if (e->type == P_TNT)
		diag("  %s %s", names[e->type], e->bits);
	else if (e->no_ip)
		diag("  %s no IP", names[e->type]);
	else
		diag("  %s 0x%lx aux %u flag %u", names[e->type], e->val, e->aux, e->flag);
}

bool trace_match(const struct expect *e, u32 n, const char *name)
{
	bool good = trace.n && trace.pkt[trace.n - 1].type != P_BAD;

	good = good && sequence_match(e, n);
	if (!ok(good, "%s", name)) {
		diag("expected:");
		for (u32 i = 0; i < n; i++)
			expect_print(&e[i]);
		trace_dump();
	}
	return good;
}
