// SPDX-License-Identifier: GPL-2.0-only
/*
 * IP compression: TIPs between addresses that share 6, 4, 2 or no upper bytes
 * with the last IP, and IPs beyond the canonical range.
 */
#include "pt.h"

snippet_fn ip_chain;
extern const u8 ip_chain_on[], ip_chain_off[], ip_chain_end[], chain_link_a[], chain_link_b[],
	chain_link_far[];
extern u64 chain_table[];

/* Target, and the IPBytes field that follows from the target before it. */
static const struct {
	const u8 *link;
	u64 alias;
	u8 ip_bytes;
	const char *what;
} chain[] = {
	{ chain_link_a, 0, IPBYTES_16, "16 bits from TIP.PGE" },
	{ chain_link_b, 0, IPBYTES_16, "16 bits" },
	{ chain_link_b, 0, IPBYTES_16, "the same address" },
	{ chain_link_far, 0, IPBYTES_32, "32 bits" },
	{ chain_link_a, ALIAS_4G, IPBYTES_48_SEXT, "upper half differs" },
	{ chain_link_b, ALIAS_4G, IPBYTES_16, "16 bits, above 4 GiB" },
	{ chain_link_far, ALIAS_4G, IPBYTES_32, "32 bits, above 4 GiB" },
	{ chain_link_a, ALIAS_KERNEL, IPBYTES_48_SEXT, "to the negative half" },
	{ chain_link_b, ALIAS_KERNEL, IPBYTES_16, "16 bits, negative half" },
	{ chain_link_far, ALIAS_KERNEL, IPBYTES_32, "32 bits, negative half" },
	{ chain_link_a, ALIAS_LOW_TOP, IPBYTES_48_SEXT, "to the top of the low half" },
	{ chain_link_a, ALIAS_KERNEL, IPBYTES_48_SEXT, "and back" },
	{ ip_chain_end, 0, IPBYTES_48_SEXT, "to low memory" },
};

static u8 payload_bytes(u8 ip_bytes)
{
	static const u8 length[] = { 0, 2, 4, 6, 6, 0, 8 };

	return length[ip_bytes];
}

static void test_chain(void)
{
	for (u32 i = 0; i < ARRAY_SIZE(chain); i++)
		chain_table[i] = (u64)chain[i].link + chain[i].alias;
	snippet_run(ip_chain, CTL_TRACE_OS);
	for (u32 i = 0; i < ARRAY_SIZE(chain); i++) {
		const struct pkt *p = trace_find(P_TIP, i);

		if (!ok(p && p->val == chain_table[i], "ip: target: %s", chain[i].what))
			diag("expected 0x%lx, got 0x%lx", chain_table[i], p ? p->val : 0);
		/* 48 bits with or without sign extension are as long and as right. */
		if (!ok(p && payload_bytes(p->ip_bytes) == payload_bytes(chain[i].ip_bytes),
			"ip: payload length: %s", chain[i].what))
			diag("expected IPBytes %u, got %u", chain[i].ip_bytes,
			     p ? p->ip_bytes : 0);
	}
	is(trace_count(P_TIP), ARRAY_SIZE(chain), "ip: one TIP for each jump");
}

/* The first IP after PSB is compressed against zero, if at all. */
static void test_after_psb(void)
{
	const struct pkt *p;

	snippet_run(ip_chain, CTL_TRACE_OS);
	p = trace_find(P_PGE, 0);
	ok(p && p->val == (u64)ip_chain_on && p->ip_bytes != IPBYTES_16,
	   "ip: TIP.PGE after PSB does not lean on an IP before it");
	p = trace_find(P_PGD, 0);
	ok(p && !p->ip_bytes, "ip: TIP.PGD at the end has no IP");
	p = trace_find(P_FUP, trace_count(P_FUP) - 1);
	ok(p && p->val == (u64)ip_chain_off && p->ip_bytes == IPBYTES_16,
	   "ip: FUP is compressed as well");
}

void test_ip(void)
{
	test_chain();
	test_after_psb();
	pt_reset();
}
