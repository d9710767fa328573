// SPDX-License-Identifier: GPL-2.0-only
/*
 * Manners that the SDM permits a processor ("rude=MANNER"): each is there, and
 * none where it was not asked for. That the control flow is right with them the
 * other subjects tell.
 */
#include "region.h"

#define ROUNDS	2000

#define TABLE	WINDOW
#define FIRST	(WINDOW + 0x10000)
#define LISTED	(WINDOW + 0x20000)
#define CHANGED	(WINDOW + 0x30000)
#define TOPA_SIZE_64K	4

snippet_fn timing_blocks, perf_loop, far_int_loop;
extern const u8 far_iret[];

#define INT_VECTOR	0x70

/* The packet @i, or what comes after it, that is no padding. */
static const struct pkt *behind_padding(u32 i)
{
	while (i < trace.n && (trace.pkt[i].type == P_PAD || trace.pkt[i].type == P_MNT))
		i++;
	return i < trace.n ? &trace.pkt[i] : &trace.pkt[trace.n - 1];
}

static u32 count_pairs(int first, int second)
{
	u32 n = 0;

	for (u32 i = 0; i < trace.n; i++)
		n += trace.pkt[i].type == first && behind_padding(i + 1)->type == second;
	return n;
}

static u32 count_pad(void)
{
	return trace_count(P_PAD);
}

static u32 count_mnt(void)
{
	return trace_count(P_MNT);
}

/* PSBs beyond those that the bytes ask for. */
static u32 count_psb(void)
{
	u32 due = 1 + trace.bytes / 2048;

	return trace_count(P_PSB) > due ? trace_count(P_PSB) - due : 0;
}

/* TNTs with room that another TNT follows. */
static u32 count_tnt(void)
{
	u32 n = 0;

	for (u32 i = 0; i < trace.n; i++) {
		const struct pkt *p = &trace.pkt[i];

		const struct pkt *next = behind_padding(i + 1);

		if (next->type == P_CYC)
			next = behind_padding(next - trace.pkt + 1);
		n += p->type == P_TNT && p->aux < 6 && next->type == P_TNT;
	}
	return n;
}

/* CYCs that a TNT comes before and another CYC behind. */
static u32 count_cyc(void)
{
	return count_pairs(P_CYC, P_CYC);
}

static u32 count_mtc(void)
{
	const struct pkt *last = NULL;
	u32 n = 0;

	for (u32 i = 0; i < trace.n; i++) {
		const struct pkt *p = &trace.pkt[i];

		if (p->type == P_TSC)
			last = NULL;
		if (p->type != P_MTC)
			continue;
		n += last && (u8)(p->val - last->val) != 1;
		last = p;
	}
	return n;
}

static u32 count_ip(void)
{
	u32 n = 0;

	for (u32 i = 0; i < trace.n; i++)
		n += trace.pkt[i].type == P_TIP && trace.pkt[i].ip_bytes == IPBYTES_48;
	return n;
}

static u32 count_psb_ip(void)
{
	u32 n = 0;

	for (u32 i = 0; i < trace.n; i++) {
		const struct pkt *p = &trace.pkt[i];

		n += p->in_psb && p->type == P_FUP && p->ip_bytes == IPBYTES_32;
	}
	return n;
}

static u32 count_middle(void)
{
	return count_pairs(P_FUP, P_CYC) + count_pairs(P_FUP, P_MTC);
}

static u32 count_cbr(void)
{
	u32 n = 0;

	for (u32 i = 1; trace_find(P_CBR, i); i++)
		n += trace_find(P_CBR, i)->val != trace_find(P_CBR, i - 1)->val;
	return n;
}

/* TIPs that wait for the TNT before them come in a row: in snip_bulk a TNT follows each. */
static u32 count_defer(void)
{
	return count_pairs(P_TIP, P_TIP);
}

static void __attribute__((noinline)) nothing(void)
{
	asm volatile("");
}

/* Is the entry used that the table had when TraceEn was set, or the one that it has now? */
static u32 old_entry_used(void)
{
	void (*volatile call)(void) = nothing;
	bool listed, changed;

	window_init();
	TOPA_TABLE(TABLE, topa_entry(FIRST, TOPA_SIZE_4K, 0),
		   topa_entry(LISTED, TOPA_SIZE_64K, 0), TABLE | TOPA_END);
	pt_output_at(TABLE, 0);
	wrmsr(MSR_RTIT_CTL, CTL_TRACE_OS | CTL_TOPA);
	topa_write(TABLE, 1, topa_entry(CHANGED, TOPA_SIZE_64K, 0));
	for (u32 i = 0; i < ROUNDS; i++)
		call();
	wrmsr(MSR_RTIT_CTL, 0);
	listed = !all_poison(LISTED, TOPA_SIZE_BYTES(TOPA_SIZE_64K));
	changed = !all_poison(CHANGED, TOPA_SIZE_BYTES(TOPA_SIZE_64K));
	ok(listed != changed, "rude: topa: the second region is the old or the new one");
	return listed;
}

/* The runs of test_rude() */
enum run { RUN_BLOCKS, RUN_INT, RUN_BULK, RUN_LOOP, RUNS };

static const struct {
	const char *name;
	u32 (*count)(void);
	enum run first, last;	/* the runs that show it */
} manners[] = {
	{ "pad", count_pad, RUN_BLOCKS, RUN_LOOP },
	{ "mnt", count_mnt, RUN_BLOCKS, RUN_LOOP },
	{ "psb", count_psb, RUN_BLOCKS, RUN_LOOP },
	{ "tnt", count_tnt, RUN_BLOCKS, RUN_LOOP },
	{ "cyc", count_cyc, RUN_BLOCKS, RUN_LOOP },
	{ "mtc", count_mtc, RUN_BLOCKS, RUN_LOOP },
	{ "ip", count_ip, RUN_BLOCKS, RUN_LOOP },
	{ "psb-ip", count_psb_ip, RUN_BLOCKS, RUN_LOOP },
	{ "middle", count_middle, RUN_BLOCKS, RUN_LOOP },
	{ "cbr", count_cbr, RUN_BLOCKS, RUN_LOOP },
	{ "defer", count_defer, RUN_BULK, RUN_BULK },
};

static void check(const char *name, u32 found)
{
	bool on = cmdline_is("rude", name) || cmdline_is("rude", "all");

	ok(on ? found > 0 : found == 0, "rude: %s: %s (%u)", name, on ? "is there" : "is not there",
	   found);
}

static bool run_one(enum run run)
{
	u64 time = CTL_TSCEN | (has(CAP_MTC) ? CTL_MTCEN : 0);
	u64 cyc = has(CAP_PSBCYC) ? CTL_CYCEN : 0;
	bool parsed;

	snip_arg[0] = ROUNDS;
	switch (run) {
	case RUN_BLOCKS:
		return snippet_run(timing_blocks, CTL_TRACE_OS | time | cyc);
	case RUN_INT:
		gate_set(INT_VECTOR, far_iret, 0);
		parsed = snippet_run(far_int_loop, CTL_TRACE_OS | time | cyc);
		gate_default(INT_VECTOR);
		return parsed;
	case RUN_BULK:
		return snippet_run(snip_bulk, CTL_TRACE_OS);
	default:
		pt_output_setup();
		snip_arg[0] = MSR_RTIT_CTL;
		snip_arg[1] = CTL_TRACE_OS | pt_output_ctl() | cyc;
		snip_arg[2] = snip_arg[1] & ~CTL_TRACEEN;
		snip_arg[3] = ROUNDS;
		perf_loop();
		return trace_collect();
	}
}

void test_rude(void)
{
	u32 found[ARRAY_SIZE(manners)] = { 0 };

	if (!cmdline_get("rude") && !cmdline_num("icount", 0))
		return;		/* a host that is slow makes the clock jump */
	for (enum run run = 0; run < RUNS; run++) {
		ok(run_one(run), "rude: the trace parses (%u packets)", trace.n);
		for (u32 i = 0; i < ARRAY_SIZE(manners); i++)
			if (run >= manners[i].first && run <= manners[i].last)
				found[i] += manners[i].count();
	}
	for (u32 i = 0; i < ARRAY_SIZE(manners); i++)
		check(manners[i].name, found[i]);
	check("topa", old_entry_used());
	pt_reset();
}
