// SPDX-License-Identifier: GPL-2.0-only
/* Changes of CPL under the four settings of OS and User. */
#include "pt.h"

#define USER_VECTOR	0x71

snippet_fn user_int, user_int32, user_ud2, user_syscall, user_sysenter, user_sysret32,
	user_return;
extern const u8 user_int_on[], user_int_off[], user_int_start[], user_int_mid[],
	user_int_insn[], user_int_handler[],
	user_int32_on[], user_int32_off[], user_int32_start[], user_int32_mid[],
	user_int32_insn[], user_int32_handler[],
	user_ud2_on[], user_ud2_off[], user_ud2_insn[], user_ud2_handler[],
	user_syscall_on[], user_syscall_off[], user_syscall_start[], user_syscall_back[],
	user_syscall_entry[], user_syscall_handler[],
	user_sysenter_on[], user_sysenter_off[], user_sysenter_start[], user_sysenter_back[],
	user_sysenter_entry[], user_sysenter_handler[],
	user_sysret32_on[], user_sysret32_off[], user_sysret32_start[], user_sysret32_handler[],
	user_return_on[], user_return_off[], user_return_start[], user_return_back[],
	user_return_after[], user_return_entry[], user_return_handler[],
	boot_stack_end[];

#define CTL_BOTH	(CTL_TRACE_OS | CTL_USER)

static void run(snippet_fn *fn, int vector, const u8 *handler, u64 ctl)
{
	gate_set(vector, handler, DPL_USER);
	snippet_run(fn, ctl);
	gate_default(vector);
}

static void test_int(void)
{
	run(user_int, USER_VECTOR, user_int_handler, CTL_BOTH);
	EXPECT_TRACE("user: OS and User: IRET and INT give TIPs",
		     E_PGE(user_int_on), E_TIP(user_int_start), E_TNT("T"), E_TIP(user_int_mid),
		     E_FUP(user_int_insn), E_TIP(user_int_handler), E_FUP(user_int_off),
		     E_PGD_NOIP);

	run(user_int, USER_VECTOR, user_int_handler, CTL_TRACE_USER);
	EXPECT_TRACE("user: User alone: TIP.PGE by IRET, FUP and TIP.PGD without IP by INT",
		     E_PGE(user_int_start), E_TNT("T"), E_TIP(user_int_mid),
		     E_FUP(user_int_insn), E_PGD_NOIP);

	run(user_int, USER_VECTOR, user_int_handler, CTL_TRACE_OS);
	EXPECT_TRACE("user: OS alone: TIP.PGD without IP by IRET, TIP.PGE by INT",
		     E_PGE(user_int_on), E_PGD_NOIP, E_PGE(user_int_handler),
		     E_FUP(user_int_off), E_PGD_NOIP);

	run(user_int, USER_VECTOR, user_int_handler, CTL_TRACEEN | CTL_BRANCHEN);
	trace_match(NULL, 0, "user: neither OS nor User: no control flow");

	run(user_ud2, VECTOR_UD, user_ud2_handler, CTL_TRACE_USER);
	EXPECT_TRACE("user: User alone: a fault gives FUP and TIP.PGD without IP",
		     E_PGE(user_ud2_insn), E_FUP(user_ud2_insn), E_PGD_NOIP);

	run(user_ud2, VECTOR_UD, user_ud2_handler, CTL_TRACE_OS);
	EXPECT_TRACE("user: OS alone: a fault of user code gives TIP.PGE alone",
		     E_PGE(user_ud2_on), E_PGD_NOIP, E_PGE(user_ud2_handler),
		     E_FUP(user_ud2_off), E_PGD_NOIP);
}

static void test_int32(void)
{
	run(user_int32, USER_VECTOR, user_int32_handler, CTL_BOTH);
	EXPECT_TRACE("user: 32-bit code: MODE.Exec with each change",
		     E_PGE(user_int32_on), E_MODE(EXEC_32), E_TIP(user_int32_start), E_TNT("T"),
		     E_TIP(user_int32_mid), E_FUP(user_int32_insn), E_MODE(EXEC_64),
		     E_TIP(user_int32_handler), E_FUP(user_int32_off), E_PGD_NOIP);

	run(user_int32, USER_VECTOR, user_int32_handler, CTL_TRACE_USER);
	EXPECT_TRACE("user: 32-bit code, User alone: MODE.Exec before TIP.PGE",
		     E_MODE(EXEC_32), E_PGE(user_int32_start), E_TNT("T"), E_TIP(user_int32_mid),
		     E_FUP(user_int32_insn), E_PGD_NOIP);
}

static void test_syscall(void)
{
	wrmsr(MSR_EFER, rdmsr(MSR_EFER) | EFER_SCE);
	wrmsr(MSR_STAR, (u64)SYSRET_CS_BASE << 48 | (u64)SYSCALL_CS_BASE << 32);
	wrmsr(MSR_LSTAR, (u64)user_syscall_entry);
	wrmsr(MSR_FMASK, 0);

	run(user_syscall, USER_VECTOR, user_syscall_handler, CTL_BOTH);
	EXPECT_TRACE("user: SYSCALL and SYSRET: TIPs without FUP",
		     E_PGE(user_syscall_on), E_TIP(user_syscall_start),
		     E_TIP(user_syscall_entry), E_TIP(user_syscall_back),
		     E_FUP(user_syscall_back), E_TIP(user_syscall_handler),
		     E_FUP(user_syscall_off), E_PGD_NOIP);

	run(user_syscall, USER_VECTOR, user_syscall_handler, CTL_TRACE_USER);
	EXPECT_TRACE("user: SYSCALL with User alone: the kernel's IP is not shown",
		     E_PGE(user_syscall_start), E_PGD_NOIP, E_PGE(user_syscall_back),
		     E_FUP(user_syscall_back), E_PGD_NOIP);

	run(user_syscall, USER_VECTOR, user_syscall_handler, CTL_TRACE_OS);
	EXPECT_TRACE("user: SYSCALL with OS alone: TIP.PGE, SYSRET: TIP.PGD without IP",
		     E_PGE(user_syscall_on), E_PGD_NOIP, E_PGE(user_syscall_entry), E_PGD_NOIP,
		     E_PGE(user_syscall_handler), E_FUP(user_syscall_off), E_PGD_NOIP);

	run(user_sysret32, USER_VECTOR, user_sysret32_handler, CTL_BOTH);
	EXPECT_TRACE("user: SYSRET to 32-bit code: MODE.Exec, TIP",
		     E_PGE(user_sysret32_on), E_MODE(EXEC_32), E_TIP(user_sysret32_start),
		     E_FUP(user_sysret32_start), E_MODE(EXEC_64), E_TIP(user_sysret32_handler),
		     E_FUP(user_sysret32_off), E_PGD_NOIP);
}

/* SDM 33.4.2.2: no RET is compressed over a time with PacketEn = 0. */
static void test_return(void)
{
	wrmsr(MSR_LSTAR, (u64)user_return_entry);

	run(user_return, USER_VECTOR, user_return_handler, CTL_TRACE_USER);
	EXPECT_TRACE("user: User alone: a RET after a system call is not compressed",
		     E_PGE(user_return_start), E_PGD_NOIP, E_PGE(user_return_after),
		     E_TIP(user_return_back), E_FUP(user_return_back), E_PGD_NOIP);

	run(user_return, USER_VECTOR, user_return_handler, CTL_BOTH);
	/* After a PSB, which a rude processor may put between, the call is forgotten. */
	if (trace_count(P_PSB) > 1)
		return;
	EXPECT_TRACE("user: OS and User: a RET after a system call is compressed",
		     E_PGE(user_return_on), E_TIP(user_return_start), E_TIP(user_return_entry),
		     E_TIP(user_return_after), E_TNT("T"), E_FUP(user_return_back),
		     E_TIP(user_return_handler), E_FUP(user_return_off), E_PGD_NOIP);
}

static void test_sysenter(void)
{
	wrmsr(MSR_SYSENTER_CS, SYSENTER_CS);
	wrmsr(MSR_SYSENTER_ESP, (u64)boot_stack_end);
	wrmsr(MSR_SYSENTER_EIP, (u64)user_sysenter_entry);

	run(user_sysenter, USER_VECTOR, user_sysenter_handler, CTL_BOTH);
	EXPECT_TRACE("user: SYSENTER and SYSEXIT: TIPs without FUP",
		     E_PGE(user_sysenter_on), E_TIP(user_sysenter_start),
		     E_TIP(user_sysenter_entry), E_TIP(user_sysenter_back),
		     E_FUP(user_sysenter_back), E_TIP(user_sysenter_handler),
		     E_FUP(user_sysenter_off), E_PGD_NOIP);

	run(user_sysenter, USER_VECTOR, user_sysenter_handler, CTL_TRACE_USER);
	EXPECT_TRACE("user: SYSENTER with User alone: the kernel's IP is not shown",
		     E_PGE(user_sysenter_start), E_PGD_NOIP, E_PGE(user_sysenter_back),
		     E_FUP(user_sysenter_back), E_PGD_NOIP);
}

void test_user(void)
{
	test_int();
	test_int32();
	test_syscall();
	test_return();
	test_sysenter();
	pt_reset();
}
