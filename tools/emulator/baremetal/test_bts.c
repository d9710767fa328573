// SPDX-License-Identifier: GPL-2.0-only
/*
 * Branch trace store (SDM, "BTS and DS Save Area"): what is recorded, where it
 * goes, and when the processor interrupts. "dtes64=0" and "dscpl=0" on the command
 * line: the processor does without; "bts=0": it has no branch trace store.
 */
#include "pt.h"

#define MISC_NO_BTS		BIT(11)

#define CPUID_ECX_DTES64	BIT(2)
#define CPUID_ECX_DS_CPL	BIT(4)

#define DEBUGCTL_LBR		BIT(0)
#define DEBUGCTL_BTF		BIT(1)
#define DEBUGCTL_TR		BIT(6)
#define DEBUGCTL_BTS		BIT(7)
#define DEBUGCTL_BTINT		BIT(8)
#define DEBUGCTL_OFF_OS		BIT(9)
#define DEBUGCTL_OFF_USR	BIT(10)
#define DEBUGCTL_FREEZE		(BIT(11) | BIT(12))
#define ON			(DEBUGCTL_TR | DEBUGCTL_BTS)

#define MSR_LBR_TOS		0x1c9
#define MSR_LBR_FROM(n)		(0x680 + (n))
#define MSR_LBR_TO(n)		(0x6c0 + (n))

#define PMI_VECTOR		0x57
#define USER_VECTOR		0x71
#define USER_END_VECTOR		0x72
/* A register of the local APIC that keeps what is written to it */
#define LAPIC_TIMER_COUNT	0xfee00380ul

#define AREA			ARENA
#define BUFFER			(ARENA + 0x10000)
#define POISON			0x5a
#define POISON_SIZE		0x10000
/* Records for which a buffer has room, if it is not to become full */
#define MANY			64
/* The base of 16-bit code, below 64 KiB. */
#define LOW_CODE		0x9000ul

/* Words of the debug store, of branches. */
enum { BASE, INDEX, MAXIMUM, THRESHOLD, POINTERS };
#define NEVER			1000000
#define PTE_USER		BIT(2)

snippet_fn lbr_kinds, lbr_many, lbr_user, bts_fault, bts_user32, bts_code16, bts_smi;
extern const u8 lbr_0[], lbr_1[], lbr_2[], lbr_3[], lbr_3_jcc[], lbr_4[], lbr_5[], lbr_6[],
	lbr_user_iret[], lbr_user_first[], lbr_user_handler[], lbr_user_sysret[],
	lbr_user_second[], lbr_user_end[], lbr_leaf[], lbr_many_target[], lbr_many_branch[],
	bts_fault_insn[], bts_fault_handler[], bts_user32_iret[], bts_user32_start[],
	bts_user32_from[], bts_user32_call[], bts_user32_handler[], bts_code16_insn[],
	bts_code16_start[], bts_code16_back[], bts_code16_end[], bts_smi_jump[], bts_smi_target[];
extern u32 bts_code16_pointer;
extern u64 pml4[];

/* From and to; the user records are of CPL 3. */
struct jump {
	const u8 *from, *to;
	bool user;
};

static const struct jump kinds[] = {
	{ lbr_0, lbr_1, 0 }, { lbr_1, lbr_leaf, 0 }, { lbr_leaf, lbr_2, 0 }, { lbr_2, lbr_leaf, 0 },
	{ lbr_leaf, lbr_3, 0 }, { lbr_3_jcc, lbr_4, 0 }, { lbr_4, lbr_5, 0 }, { lbr_5, lbr_6, 0 },
};

/* Bytes of a word, of the debug store and of a record */
static u64 word;

static u64 get(u64 addr)
{
	return word == 8 ? *(volatile u64 *)addr : *(volatile u32 *)addr;
}

static void put(u64 addr, u64 value)
{
	if (word == 8)
		*(volatile u64 *)addr = value;
	else
		*(volatile u32 *)addr = value;
}

static u64 size(void)
{
	return 3 * word;
}

/* A buffer of @records at @buffer, empty; it interrupts with record @threshold. */
static void setup_at(u64 area, u64 buffer, u32 records, u32 threshold)
{
	memset((void *)BUFFER, POISON, POISON_SIZE);
	memset((void *)AREA, 0, PAGE);
	put(AREA + BASE * word, buffer);
	put(AREA + INDEX * word, buffer);
	put(AREA + MAXIMUM * word, buffer + records * size());
	put(AREA + THRESHOLD * word, buffer + threshold * size());
	wrmsr(MSR_DEBUGCTL, 0);
	wrmsr(MSR_DS_AREA, area);
}

static void setup(u32 records, u32 threshold)
{
	setup_at(AREA, BUFFER, records, threshold);
}

static void run(snippet_fn *fn, u64 debugctl, u64 rounds)
{
	snip_arg[0] = MSR_DEBUGCTL;
	snip_arg[1] = debugctl;
	snip_arg[2] = 0;
	snip_arg[3] = rounds;
	fn();
	wrmsr(MSR_DEBUGCTL, 0);
}

static u64 index_of(void)
{
	return (get(AREA + INDEX * word) - get(AREA + BASE * word)) / size();
}

/* The buffer has these records and no others; @user and @os say which of them. */
static void expect(const struct jump *jumps, u32 n, bool os, bool user, const char *name)
{
	u32 seen = 0;
	bool right = true;

	for (u32 i = 0; i < n; i++) {
		u64 at = BUFFER + seen * size();

		if (!(jumps[i].user ? user : os))
			continue;
		right &= get(at) == (u64)jumps[i].from && get(at + word) == (u64)jumps[i].to &&
			 get(at + 2 * word) == 0;
		seen++;
	}
	if (ok(right && index_of() == seen && *(u8 *)(BUFFER + seen * size()) == POISON,
	       "bts: %s", name))
		return;
	diag("%lu records, expected %u", index_of(), seen);
	for (u64 at = BUFFER; at < BUFFER + index_of() * size(); at += size())
		diag("0x%lx -> 0x%lx, 0x%lx", get(at), get(at + word), get(at + 2 * word));
}

static void test_registers(bool cpl)
{
	static const u64 canonical[] = { 0, 0x7ffffffffff8, 0xffff800000000000 };

	is(rdmsr(MSR_DS_AREA), 0, "bts: DS_AREA is 0 after reset");
	for (u32 i = 0; i < ARRAY_SIZE(canonical); i++) {
		is(wrmsr_safe(MSR_DS_AREA, canonical[i]), 0, "bts: DS_AREA takes 0x%lx",
		   canonical[i]);
		is(rdmsr(MSR_DS_AREA), canonical[i], "bts: DS_AREA keeps 0x%lx", canonical[i]);
	}
	is(wrmsr_safe(MSR_DS_AREA, BIT(max_linear_addr_bits() - 1)), TRAPPED(VECTOR_GP),
	   "bts: DS_AREA that is not canonical is a #GP");
	wrmsr(MSR_DS_AREA, 0);
	for (u32 bit = 0; bit < 64; bit++) {
		u64 valid = DEBUGCTL_LBR | DEBUGCTL_BTF | DEBUGCTL_FREEZE | ON | DEBUGCTL_BTINT |
			    (cpl ? DEBUGCTL_OFF_OS | DEBUGCTL_OFF_USR : 0);
		bool there = valid & BIT(bit);

		/* Alone, none of them records. */
		is(wrmsr_safe(MSR_DEBUGCTL, BIT(bit)), there ? 0 : TRAPPED(VECTOR_GP),
		   "bts: DEBUGCTL bit %u %s", bit, there ? "is there" : "is a #GP");
		wrmsr(MSR_DEBUGCTL, 0);
	}
}

/* SDM, tables "IA32_DEBUGCTL Flag Encodings" and "CPL-Qualified Branch Trace Store Encodings" */
static void test_enables(bool cpl)
{
	static const struct {
		u64 debugctl;
		bool stored;
		const char *name;
	} cases[] = {
		{ 0, 0, "neither TR nor BTS: nothing" },
		{ DEBUGCTL_TR, 0, "TR alone: nothing" },
		{ DEBUGCTL_BTS | DEBUGCTL_BTINT, 0, "BTS alone: nothing" },
		{ ON, 1, "TR and BTS: each kind of branch" },
		{ ON | DEBUGCTL_BTINT, 1, "the same with BTINT" },
		{ ON | DEBUGCTL_LBR, 1, "the same beside LBRs" },
		{ ON | DEBUGCTL_OFF_USR, 1, "OFF_USR: the kernel's" },
		{ ON | DEBUGCTL_OFF_OS, 0, "OFF_OS: not the kernel's" },
		{ ON | DEBUGCTL_OFF_OS | DEBUGCTL_OFF_USR, 0, "both: nothing" },
	};

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		if (!cpl && cases[i].debugctl & (DEBUGCTL_OFF_OS | DEBUGCTL_OFF_USR))
			continue;
		setup(MANY, NEVER);
		run(lbr_kinds, cases[i].debugctl, 0);
		expect(kinds, ARRAY_SIZE(kinds), cases[i].stored, false, cases[i].name);
	}
}

/* The entry of the 2 MiB page that @addr, below 1 GiB, is in. */
static u64 *large_page(u64 addr)
{
	u64 *pdpt = (u64 *)(pml4[0] & ~(PAGE - 1)), *pd = (u64 *)(pdpt[0] & ~(PAGE - 1));

	return &pd[addr >> 21];
}

/* Branches of user code go where that code cannot write. */
static void test_supervisor(const struct jump *jumps, u32 n)
{
	u64 *entry = large_page(BUFFER);

	setup(MANY, NEVER);
	*entry &= ~PTE_USER;
	write_cr3(read_cr3());
	run(lbr_user, ON, 0);
	*entry |= PTE_USER;
	write_cr3(read_cr3());
	expect(jumps, n, true, true, "IRET, INT, SYSRET: all, in pages of the supervisor");
}

/* OFF_OS and OFF_USR go by the CPL of the branch: what enters or leaves shows both sides. */
static void test_by_cpl(void)
{
	static const struct jump jumps[] = {
		{ lbr_user_iret, lbr_user_first, false },
		{ lbr_user_first, lbr_user_handler, true },
		{ lbr_user_sysret, lbr_user_second, false },
		{ lbr_user_second, lbr_user_end, true },
	};

	wrmsr(MSR_EFER, rdmsr(MSR_EFER) | EFER_SCE);
	wrmsr(MSR_STAR, (u64)SYSRET_CS_BASE << 48 | (u64)SYSCALL_CS_BASE << 32);
	gate_set(USER_VECTOR, lbr_user_handler, DPL_USER);
	gate_set(USER_END_VECTOR, lbr_user_end, DPL_USER);
	setup(MANY, NEVER);
	run(lbr_user, ON, 0);
	expect(jumps, ARRAY_SIZE(jumps), true, true, "IRET, INT, SYSRET: all");
	setup(MANY, NEVER);
	run(lbr_user, ON | DEBUGCTL_OFF_OS, 0);
	expect(jumps, ARRAY_SIZE(jumps), false, true, "OFF_OS: those at CPL 3");
	setup(MANY, NEVER);
	run(lbr_user, ON | DEBUGCTL_OFF_USR, 0);
	expect(jumps, ARRAY_SIZE(jumps), true, false, "OFF_USR: those at CPL 0");
	test_supervisor(jumps, ARRAY_SIZE(jumps));
	gate_default(USER_VECTOR);
	gate_default(USER_END_VECTOR);
}

/* SDM: "The 64-bit record formats ... apply to DS save area for all operating modes." */
static void test_narrow(void)
{
	const struct jump user32[] = {
		{ bts_user32_iret, bts_user32_start, false },
		{ bts_user32_from, bts_user32_call, true },
		{ bts_user32_call, bts_user32_handler, true },
	};
	const u8 *start = (const u8 *)LOW_CODE, *back = start + (bts_code16_back - bts_code16_start);
	const struct jump code16[] = {
		{ bts_code16_insn, start, false },
		{ start, back, false },
		{ back, bts_code16_end, false },
	};

	gate_set(USER_VECTOR, bts_user32_handler, DPL_USER);
	setup(MANY, NEVER);
	run(bts_user32, ON, 0);
	expect(user32, ARRAY_SIZE(user32), true, true, "32-bit user code: the same format");
	gate_default(USER_VECTOR);

	memcpy((void *)LOW_CODE, bts_code16_start, bts_code16_end - bts_code16_start);
	code16_set_base(LOW_CODE);
	bts_code16_pointer = 0;
	setup(MANY, NEVER);
	run(bts_code16, ON, 0);
	expect(code16, ARRAY_SIZE(code16), true, true, "16-bit code: addresses are linear");
	code16_set_base(0);
}

static void test_fault(void)
{
	static const struct jump jumps[] = { { bts_fault_insn, bts_fault_handler, false } };

	gate_set(VECTOR_PF, bts_fault_handler, 0);
	setup(MANY, NEVER);
	run(bts_fault, ON, 0);
	gate_default(VECTOR_PF);
	expect(jumps, ARRAY_SIZE(jumps), true, true, "a jump that faults is no branch, its fault is");
}

/* With BTINT the buffer ends, without it is a ring. */
static void test_full(void)
{
	u64 end = BUFFER + 10 * size();

	/* lbr_many has a branch less than rounds. */
	setup(10, NEVER);
	run(lbr_many, ON | DEBUGCTL_BTINT, 11);
	is(get(AREA + INDEX * word), end, "bts: BTINT: the index comes to the maximum");
	setup(10, NEVER);
	run(lbr_many, ON | DEBUGCTL_BTINT, 26);
	is(get(AREA + INDEX * word), end, "bts: BTINT: nothing is stored beyond it");
	is(*(u8 *)end, POISON, "bts: BTINT: nor written");
	setup(10, NEVER);
	run(lbr_many, ON, 26);
	is(index_of(), 5, "bts: without BTINT 25 records are 5 in the third lap of 10");
	is(*(u8 *)end, POISON, "bts: without BTINT nothing is written beyond the maximum");
	is(get(BUFFER + 9 * size()), (u64)lbr_many_branch, "bts: and the end of the lap before is there");
	setup(10, NEVER);
	run(lbr_many, ON, 11);
	is(index_of(), 0, "bts: without BTINT the index goes to the base with the last record that fits");
	setup(10, NEVER);
	put(AREA + INDEX * word, end);
	run(lbr_many, ON, 2);
	ok(index_of() == 1 && get(BUFFER) == (u64)lbr_many_branch && *(u8 *)end == POISON,
	   "bts: without BTINT an index at the maximum is one at the base");
}

/* It is the record that reaches the threshold that interrupts, not those beyond. */
static void test_interrupt_again(void)
{
	u32 before;

	setup(40, 20);
	run(lbr_many, ON | DEBUGCTL_BTINT, 21);
	before = irq_count[PMI_VECTOR];
	lapic_set_lvtpc(PMI_VECTOR);
	run(lbr_many, ON | DEBUGCTL_BTINT, 6);
	sti_nop_cli();
	ok(index_of() == 25 && irq_count[PMI_VECTOR] == before,
	   "bts: PMI: none of a record beyond the threshold, LVTPC not masked");
	lapic_set_lvtpc(LAPIC_LVT_MASKED);
}

static void test_interrupt(void)
{
	static const struct {
		u64 btint;
		u32 records, threshold, rounds, pmis;
		const char *name;
	} cases[] = {
		{ DEBUGCTL_BTINT, 40, 20, 20, 0, "none before the threshold" },
		{ DEBUGCTL_BTINT, 40, 20, 21, 1, "one at the threshold" },
		{ DEBUGCTL_BTINT, 40, 20, 31, 1, "none thereafter" },
		{ DEBUGCTL_BTINT, 40, 41, 61, 0, "none with the threshold beyond the maximum" },
		{ 0, 40, 20, 21, 1, "without BTINT, too" },
		{ 0, 40, 41, 61, 0, "none in a ring with the threshold beyond the maximum" },
	};

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		u32 before = irq_count[PMI_VECTOR];
		u64 status;

		lapic_set_lvtpc(PMI_VECTOR);
		setup(cases[i].records, cases[i].threshold);
		run(lbr_many, ON | cases[i].btint, cases[i].rounds);
		status = rdmsr(MSR_PERF_GLOBAL_STATUS);
		sti_nop_cli();
		is(irq_count[PMI_VECTOR] - before, cases[i].pmis, "bts: PMI: %s", cases[i].name);
		is(!!(lapic_get_lvtpc() & LAPIC_LVT_MASKED), cases[i].pmis,
		   "bts: PMI: LVTPC is masked by it");
		is(status, 0, "bts: PMI: no bit of GLOBAL_STATUS");
	}
	lapic_set_lvtpc(LAPIC_LVT_MASKED);
	test_interrupt_again();
}

/* Addresses are linear, any of them; what is not memory has no room. */
static void test_addresses(void)
{
	volatile u32 *count = (volatile u32 *)LAPIC_TIMER_COUNT;
	u32 before = *count;

	setup_at(word == 8 ? ALIAS_KERNEL + AREA : AREA, BUFFER, MANY, NEVER);
	if (word == 8) {
		put(AREA + BASE * word, ALIAS_4G + BUFFER);
		put(AREA + INDEX * word, ALIAS_4G + BUFFER);
		put(AREA + MAXIMUM * word, ALIAS_4G + BUFFER + MANY * size());
	}
	run(lbr_kinds, ON, 0);
	expect(kinds, ARRAY_SIZE(kinds), true, false, "linear addresses of area and buffer");

	setup_at(AREA, BUFFER + PAGE - size() / 2, MANY, NEVER);
	run(lbr_kinds, ON, 0);
	ok(index_of() == ARRAY_SIZE(kinds) && get(BUFFER + PAGE - size() / 2 + 0) == (u64)lbr_0 &&
	   get(BUFFER + PAGE - size() / 2 + size()) == (u64)lbr_1, "bts: a record in two pages");

	if (word == 8) {
		setup_at(UNMAPPED, BUFFER, MANY, NEVER);
		run(lbr_kinds, ON, 0);
		is(index_of(), 0, "bts: an area that is not mapped: no fault, no record");
		setup_at(AREA, UNMAPPED, MANY, NEVER);
		run(lbr_kinds, ON, 0);
		is(index_of(), 0, "bts: a buffer that is not mapped: no fault, no record");
	}
	setup_at(AREA, LAPIC_TIMER_COUNT, MANY, NEVER);
	run(lbr_kinds, ON, 0);
	ok(index_of() == 0 && *count == before, "bts: a device is no buffer, and not touched");
}

/* The same branches in records of either kind. */
static void test_beside_lbr(void)
{
	u32 same = 0, n = ARRAY_SIZE(kinds);
	u64 tos;

	setup(MANY, NEVER);
	run(lbr_kinds, ON | DEBUGCTL_LBR, 0);
	tos = rdmsr(MSR_LBR_TOS);
	for (u32 i = 0; i < n; i++) {
		u32 at = (tos - (n - 1) + i) % 32;

		same += get(BUFFER + i * size()) == rdmsr(MSR_LBR_FROM(at)) &&
			get(BUFFER + i * size() + word) == rdmsr(MSR_LBR_TO(at));
	}
	is(same, n, "bts: LBRs have the same branches");
}

static void test_beside_pt(void)
{
	setup(MANY, NEVER);
	pt_output_setup();
	wrmsr(MSR_RTIT_CTL, CTL_TRACE_OS | pt_output_ctl());
	run(lbr_kinds, ON, 0);
	wrmsr(MSR_RTIT_CTL, 0);
	expect(kinds, ARRAY_SIZE(kinds), true, false, "beside a trace");
	trace_collect();
	ok(trace_count(P_TNT) || trace_count(P_TIP), "bts: and the trace has them, too");
	pt_reset();
}

static void test_smi(void)
{
	static const struct jump jumps[] = { { bts_smi_jump, bts_smi_target, false } };

	setup(MANY, NEVER);
	run(bts_smi, ON, 0);
	expect(jumps, ARRAY_SIZE(jumps), true, true, "SMI: no branch of firmware, then on again");
}

void test_bts(void)
{
	bool there = cmdline_num("bts", 1), wide = cmdline_num("dtes64", 1);
	bool cpl = cmdline_num("dscpl", 1), pebs = cmdline_num("pebs", 0);
	struct cpuid l = cpuid(1, 0);

	if (!cmdline_num("pmu", 1))
		return;
	is(!!(l.d & CPUID_FEATURE_EDX_DS), there || pebs, "bts: CPUID shows the debug store");
	is(!!(l.c & CPUID_ECX_DTES64), (there && wide) || pebs, "bts: CPUID shows DTES64");
	is(!!(l.c & CPUID_ECX_DS_CPL), there && cpl, "bts: CPUID shows DS-CPL");
	is(!!(rdmsr(MSR_MISC_ENABLE) & MISC_NO_BTS), !there, "bts: MISC_ENABLE[11]");
	if (!there) {
		is(wrmsr_safe(MSR_DEBUGCTL, ON), TRAPPED(VECTOR_GP), "bts: TR is a #GP without it");
		return;
	}
	word = wide ? 8 : 4;
	test_registers(cpl);
	test_enables(cpl);
	if (cpl)
		test_by_cpl();
	test_narrow();
	test_fault();
	test_full();
	test_interrupt();
	test_addresses();
	test_beside_lbr();
	if (has(CAP_TOPA | CAP_SINGLE))
		test_beside_pt();
	if (cmdline_num("smi", 0))
		test_smi();
	wrmsr(MSR_DS_AREA, 0);
}
