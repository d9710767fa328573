// SPDX-License-Identifier: GPL-2.0-only
/* Tracing outside of long mode: protected, virtual-8086 and real mode. */
#include "pt.h"

#define LOW_CODE	0x9000ul	/* below 1 MiB, free */
#define LOW_SEGMENT	(LOW_CODE >> 4)
#define USER_VECTOR	0x71
#define IRQ_VECTOR	0x58
#define GATE32_DPL3	0xeeul
#define DESC_TSS32	0x89ul

#define EFLAGS_RESERVED	BIT(1)
#define EFLAGS_RF	BIT(16)

struct tss32 {
	u32 link, esp0, ss0, esp1, ss1, esp2, ss2, cr3, eip, eflags;
	u32 eax, ecx, edx, ebx, esp, ebp, esi, edi, es, cs, ss, ds, fs, gs, ldt, trap;
};

snippet_fn legacy_pm, legacy_irq, legacy_v86, legacy_real, legacy_task;
extern const u8 legacy_task_on[], legacy_task_off[], legacy_task_target[],
	legacy_pm_on[], legacy_pm_off[], legacy_pm_1[], legacy_pm_2[],
	legacy_v86_on[], legacy_v86_off[], legacy_v86_handler[],
	v86_code[], v86_code_mid[], v86_code_end[],
	legacy_real_on[], legacy_real_off[], legacy_real_back[],
	real_code[], real_code_segment[], real_code_1[], real_code_2[], real_code_3[],
	real_code_handler[], real_code_end[], legacy_stack_end[];
extern const u8 legacy_irq_insn[], legacy_irq_handler[];
extern const volatile u32 legacy_irq_ip, legacy_irq_eflags;
extern u64 gdt[], legacy_idt[];
extern u32 real_idt[];

static struct tss32 tss32, task32;

static u64 tss32_descriptor(const struct tss32 *t)
{
	u64 base = (u64)t;

	return (sizeof(*t) - 1) | (base & 0xffffff) << 16 | DESC_TSS32 << 40 | (base >> 24) << 56;
}

static void tss32_init(void)
{
	tss32.esp0 = (u64)legacy_stack_end;
	tss32.ss0 = SEL_DATA;
	gdt[SEL_TSS32 / 8] = tss32_descriptor(&tss32);
	task32 = (struct tss32) {
		.cr3 = read_cr3(),
		.eip = (u64)legacy_task_target,
		.eflags = EFLAGS_RESERVED,
		.esp = (u64)legacy_stack_end,
		.cs = SEL_CODE32,
		.ss = SEL_DATA,
		.ds = SEL_DATA,
		.es = SEL_DATA,
	};
	gdt[SEL_TASK32 / 8] = tss32_descriptor(&task32);
}

static void gate32_set(int vector, const u8 *handler)
{
	u64 ip = (u64)handler;

	legacy_idt[vector] = (ip & 0xffff) | (u64)SEL_CODE32 << 16 | GATE32_DPL3 << 40 |
		(ip >> 16) << 48;
}

/* The offset within its segment, or with LIP the linear address. */
static u64 low_ip(const u8 *code, const u8 *label)
{
	return label - code + (has(CAP_LIP) ? LOW_CODE : 0);
}

static void test_protected(void)
{
	u64 cr3 = read_cr3();

	snippet_run(legacy_pm, CTL_TRACE_OS);
	ok(trace_find(P_MODE_EXEC, 0) && trace_find(P_MODE_EXEC, 0)->val == EXEC_32,
	   "legacy: protected mode: MODE.Exec is 32-bit");
	EXPECT_TRACE("legacy: protected mode: Jcc, jump, far jump, MOV CR3",
		     E_PGE(legacy_pm_on), E_TNT("T"), E_TIP(legacy_pm_1), E_TIP(legacy_pm_2),
		     E_PIP(cr3), E_FUP(legacy_pm_off), E_PGD_NOIP);
}

/* As in long mode, see test_step.c */
static void test_rf(void)
{
	gate32_set(IRQ_VECTOR, legacy_irq_handler);
	lapic_self_ipi(IRQ_VECTOR);
	legacy_irq();
	is(legacy_irq_ip, (u64)legacy_irq_insn, "legacy: an interrupt comes behind STI's shadow");
	is(legacy_irq_eflags & EFLAGS_RF, 0, "legacy: an interrupt pushes RF as 0");
}

/* Paging is off, so that the task switch does not load CR3: no PIP. */
static void test_task_switch(void)
{
	snippet_run(legacy_task, CTL_TRACE_OS);
	EXPECT_TRACE("legacy: task switch: TIP of the new task",
		     E_PGE(legacy_task_on), E_TIP(legacy_task_target), E_FUP(legacy_task_off),
		     E_PGD_NOIP);
}

static void test_v86(void)
{
	memcpy((void *)LOW_CODE, v86_code, v86_code_end - v86_code);
	gate32_set(USER_VECTOR, legacy_v86_handler);
	snip_arg[0] = LOW_SEGMENT;
	snippet_run(legacy_v86, CTL_TRACE_OS | CTL_USER);
	EXPECT_TRACE("legacy: virtual-8086 mode: IRET to it, branches, INT",
		     E_PGE(legacy_v86_on), E_MODE(EXEC_16), E_TIP(low_ip(v86_code, v86_code)),
		     E_TNT("T"), E_TIP(low_ip(v86_code, v86_code_mid)),
		     E_FUP(low_ip(v86_code, v86_code_mid)), E_MODE(EXEC_32),
		     E_TIP(legacy_v86_handler), E_FUP(legacy_v86_off), E_PGD_NOIP);

	snip_arg[0] = LOW_SEGMENT;
	snippet_run(legacy_v86, CTL_TRACE_USER);
	EXPECT_TRACE("legacy: virtual-8086 mode is CPL 3: User alone",
		     E_MODE(EXEC_16), E_PGE(low_ip(v86_code, v86_code)), E_TNT("T"),
		     E_TIP(low_ip(v86_code, v86_code_mid)),
		     E_FUP(low_ip(v86_code, v86_code_mid)), E_PGD_NOIP);
}

static void test_real(void)
{
	u8 *low = (u8 *)LOW_CODE;

	memcpy(low, real_code, real_code_end - real_code);
	*(u16 *)(low + (real_code_segment - real_code)) = LOW_SEGMENT;
	real_idt[USER_VECTOR] = LOW_SEGMENT << 16 | (u32)(real_code_handler - real_code);
	code16_set_base(LOW_CODE);
	snippet_run(legacy_real, CTL_TRACE_OS);
	EXPECT_TRACE("legacy: real mode: far jumps, branches, INT and IRET",
		     E_PGE(legacy_real_on), E_MODE(EXEC_16), E_TIP(low_ip(real_code, real_code)),
		     E_TIP(low_ip(real_code, real_code_1)), E_TNT("T"),
		     E_TIP(low_ip(real_code, real_code_2)),
		     E_FUP(low_ip(real_code, real_code_2)),
		     E_TIP(low_ip(real_code, real_code_handler)),
		     E_TIP(low_ip(real_code, real_code_3)),
		     E_MODE(EXEC_32), E_TIP(legacy_real_back), E_FUP(legacy_real_off),
		     E_PGD_NOIP);
}

void test_legacy(void)
{
	tss32_init();
	test_protected();
	test_rf();
	test_task_switch();
	test_v86();
	test_real();
	pt_reset();
}
