// SPDX-License-Identifier: GPL-2.0-only
/* Last branch records: 32 entries, filters by kind and CPL, freeze on PMI. */
#include "pt.h"

#define MSR_LBR_SELECT		0x1c8
#define MSR_LBR_TOS		0x1c9
#define MSR_LBR_FROM(n)		(0x680 + (n))
#define MSR_LBR_TO(n)		(0x6c0 + (n))
#define MSR_LBR_INFO(n)		(0xdc0 + (n))
#define LBR_DEPTH		32

#define DEBUGCTL_LBR		BIT(0)
#define DEBUGCTL_FREEZE_LBR	BIT(11)

#define SELECT_NO_CPL0		BIT(0)
#define SELECT_NO_USER		BIT(1)
#define SELECT_NO_JCC		BIT(2)
#define SELECT_NO_REL_CALL	BIT(3)
#define SELECT_NO_IND_CALL	BIT(4)
#define SELECT_NO_RET		BIT(5)
#define SELECT_NO_IND_JMP	BIT(6)
#define SELECT_NO_REL_JMP	BIT(7)
#define SELECT_NO_FAR		BIT(8)

#define MSR_FIXED_CTR0		0x309
#define MSR_FIXED_CTR_CTRL	0x38d
#define FIXED0_OS_PMI		(BIT(0) | BIT(3))
#define GLOBAL_FIXED0		BIT(32)
#define GLOBAL_LBR_FROZEN	BIT(58)
#define PMI_VECTOR		0x56

#define ADDRESS			GENMASK(47, 0)

#define USER_VECTOR		0x71
#define USER_END_VECTOR		0x72

snippet_fn lbr_kinds, lbr_many, lbr_user;
extern const u8 lbr_0[], lbr_1[], lbr_2[], lbr_3[], lbr_3_jcc[], lbr_4[], lbr_5[], lbr_6[],
	lbr_user_iret[], lbr_user_first[], lbr_user_handler[], lbr_user_sysret[],
	lbr_user_second[], lbr_user_end[], lbr_leaf[], lbr_many_target[], lbr_many_branch[];

static const struct branch {
	const u8 *from, *to;
	u64 filter;
	const char *name;
} branches[] = {
	{ lbr_0, lbr_1, SELECT_NO_REL_JMP, "direct jump" },
	{ lbr_1, lbr_leaf, SELECT_NO_REL_CALL, "direct call" },
	{ lbr_leaf, lbr_2, SELECT_NO_RET, "return" },
	{ lbr_2, lbr_leaf, SELECT_NO_IND_CALL, "indirect call" },
	{ lbr_leaf, lbr_3, SELECT_NO_RET, "return" },
	{ lbr_3_jcc, lbr_4, SELECT_NO_JCC, "taken Jcc" },
	{ lbr_4, lbr_5, SELECT_NO_IND_JMP, "indirect jump" },
	{ lbr_5, lbr_6, SELECT_NO_FAR, "far jump" },
};

static void clear_records(void)
{
	wrmsr(MSR_DEBUGCTL, 0);
	for (u32 n = 0; n < LBR_DEPTH; n++) {
		wrmsr(MSR_LBR_FROM(n), 0);
		wrmsr(MSR_LBR_TO(n), 0);
		wrmsr(MSR_LBR_INFO(n), 0);
	}
	wrmsr(MSR_LBR_SELECT, 0);
}

static void run(snippet_fn *fn, u64 select, u64 debugctl, u64 rounds)
{
	clear_records();
	wrmsr(MSR_LBR_SELECT, select);
	snip_arg[0] = MSR_DEBUGCTL;
	snip_arg[1] = debugctl;
	snip_arg[2] = 0;
	snip_arg[3] = rounds;
	fn();
}

/* The records, oldest of @n first, are @b (a null "from" is skipped). */
static void check(const struct branch *b, u32 n, const char *name)
{
	u64 tos = rdmsr(MSR_LBR_TOS);

	for (u32 i = 0; i < n; i++) {
		u32 at = (tos - (n - 1) + i) % LBR_DEPTH;
		u64 from = rdmsr(MSR_LBR_FROM(at)) & ADDRESS, to = rdmsr(MSR_LBR_TO(at)) & ADDRESS;

		if (!ok(from == (u64)b[i].from && to == (u64)b[i].to, "lbr: %s: %s", name, b[i].name))
			diag("expected 0x%lx -> 0x%lx, got 0x%lx -> 0x%lx", (u64)b[i].from,
			     (u64)b[i].to, from, to);
	}
	is(rdmsr(MSR_LBR_FROM((tos - n) % LBR_DEPTH)) & ADDRESS, 0, "lbr: %s: no record before these",
	   name);
}

static void test_kinds(void)
{
	struct branch left[ARRAY_SIZE(branches)];

	run(lbr_kinds, 0, DEBUGCTL_LBR, 0);
	check(branches, ARRAY_SIZE(branches), "all kinds");
	for (u32 i = 0; i < ARRAY_SIZE(branches); i++) {
		u32 n = 0;

		for (u32 j = 0; j < ARRAY_SIZE(branches); j++)
			if (branches[j].filter != branches[i].filter)
				left[n++] = branches[j];
		run(lbr_kinds, branches[i].filter, DEBUGCTL_LBR, 0);
		check(left, n, branches[i].name);
	}
	run(lbr_kinds, SELECT_NO_CPL0, DEBUGCTL_LBR, 0);
	check(NULL, 0, "CPL 0 filtered");
	run(lbr_kinds, SELECT_NO_USER, DEBUGCTL_LBR, 0);
	check(branches, ARRAY_SIZE(branches), "CPL 3 filtered");
	run(lbr_kinds, 0, 0, 0);
	check(NULL, 0, "DEBUGCTL.LBR clear");
}

/* With CPL 0 left out, the branches that end in CPL 3 are there, and whence they came. */
static void test_to_user(void)
{
	static const struct branch to_user[] = {
		{ lbr_user_iret, lbr_user_first, 0, "IRET" },
		{ lbr_user_sysret, lbr_user_second, 0, "SYSRET" },
	};

	wrmsr(MSR_STAR, (u64)SYSRET_CS_BASE << 48 | (u64)SYSCALL_CS_BASE << 32);
	gate_set(USER_VECTOR, lbr_user_handler, DPL_USER);
	gate_set(USER_END_VECTOR, lbr_user_end, DPL_USER);
	run(lbr_user, SELECT_NO_CPL0, DEBUGCTL_LBR, 0);
	gate_default(USER_VECTOR);
	gate_default(USER_END_VECTOR);
	check(to_user, ARRAY_SIZE(to_user), "CPL 0 filtered, to user code");
}

static void test_depth(void)
{
	u32 right = 0;

	run(lbr_many, 0, DEBUGCTL_LBR, 100);
	for (u32 n = 0; n < LBR_DEPTH; n++)
		right += (rdmsr(MSR_LBR_FROM(n)) & ADDRESS) == (u64)lbr_many_branch &&
			 (rdmsr(MSR_LBR_TO(n)) & ADDRESS) == (u64)lbr_many_target;
	is(right, LBR_DEPTH, "lbr: 32 records of a long loop");
	ok(rdmsr(MSR_LBR_TOS) < LBR_DEPTH, "lbr: TOS is an index");
}

/* The PMI of a counter stops the records: those of the handler are not there. */
static void test_freeze(void)
{
	u64 tos, debugctl, status, to;

	u32 before = irq_count[PMI_VECTOR];

	clear_records();
	wrmsr(MSR_PERF_GLOBAL_CTRL, 0);
	wrmsr(MSR_FIXED_CTR_CTRL, FIXED0_OS_PMI);
	wrmsr(MSR_FIXED_CTR0, BIT(48) - 500);
	lapic_set_lvtpc(PMI_VECTOR);
	snip_arg[0] = MSR_PERF_GLOBAL_CTRL;
	snip_arg[1] = GLOBAL_FIXED0;
	snip_arg[2] = 0;
	snip_arg[3] = 5000;
	wrmsr(MSR_DEBUGCTL, DEBUGCTL_LBR | DEBUGCTL_FREEZE_LBR);
	asm volatile("sti");
	lbr_many();
	asm volatile("cli");
	debugctl = rdmsr(MSR_DEBUGCTL);
	status = rdmsr(MSR_PERF_GLOBAL_STATUS);
	wrmsr(MSR_FIXED_CTR_CTRL, 0);
	wrmsr(MSR_DEBUGCTL, 0);
	tos = rdmsr(MSR_LBR_TOS);
	to = rdmsr(MSR_LBR_TO(tos)) & ADDRESS;
	is(irq_count[PMI_VECTOR], before + 1, "lbr: freeze: the PMI came");
	/* Version 4 says it in GLOBAL_STATUS and DEBUGCTL may stay; before, DEBUGCTL.LBR is cleared. */
	ok((status & GLOBAL_LBR_FROZEN) || !(debugctl & DEBUGCTL_LBR), "lbr: freeze: it is shown");
	if (!ok(to == (u64)lbr_many_target, "lbr: freeze: the last record is of the loop"))
		diag("it leads to 0x%lx", to);
	wrmsr(MSR_PERF_GLOBAL_RESET, GLOBAL_FIXED0 | (status & GLOBAL_LBR_FROZEN));
	lapic_set_lvtpc(LAPIC_LVT_MASKED);
}

void test_lbr(void)
{
	clear_records();
	wrmsr(MSR_LBR_FROM(0), (u64)lbr_0);
	if (!is(rdmsr(MSR_LBR_FROM(0)) & ADDRESS, (u64)lbr_0, "lbr: the records are there"))
		return;
	test_kinds();
	test_to_user();
	test_depth();
	test_freeze();
	clear_records();
}
