// SPDX-License-Identifier: GPL-2.0-only
/* MODE.Exec and IP payloads in 64-bit, 32-bit and 16-bit code segments. */
#include "pt.h"

#define UNUSED_BASE	0x123000

snippet_fn modes_base, modes_32, modes_16, modes_enable_32, modes_fault_32;
extern const u8 modes_base_on[], modes_base_off[], modes_base_start[], modes_base_mid[],
	modes_base_back[],
	modes_32_on[], modes_32_off[], modes_32_start[], modes_32_mid[], modes_32_back[],
	modes_16_on[], modes_16_off[], modes_16_base[], modes_16_start[], modes_16_mid[],
	modes_16_back[], modes_enable_32_on[], modes_enable_32_off[],
	modes_fault_32_on[], modes_fault_32_off[], modes_fault_32_start[], modes_fault_32_insn[],
	modes_fault_32_next[], modes_fault_32_back[], far_skip2_handler[];

/* What a payload shows of an address in the 16-bit segment: CS base only with LIP. */
static u64 ip16(const u8 *linear)
{
	return has(CAP_LIP) ? (u64)linear : (u64)(linear - modes_16_base);
}

void test_modes(void)
{
	snippet_run(modes_32, CTL_TRACE_OS);
	EXPECT_TRACE("modes: 64-bit to 32-bit code and back",
		     E_PGE(modes_32_on), E_MODE(EXEC_32), E_TIP(modes_32_start), E_TNT("T"),
		     E_TIP(modes_32_mid), E_TNT("T"), E_MODE(EXEC_64), E_TIP(modes_32_back),
		     E_FUP(modes_32_off), E_PGD_NOIP);

	code16_set_base((u64)modes_16_base);
	snippet_run(modes_16, CTL_TRACE_OS);
	EXPECT_TRACE("modes: 64-bit to 16-bit code and back",
		     E_PGE(modes_16_on), E_MODE(EXEC_16), E_TIP(ip16(modes_16_start)), E_TNT("T"),
		     E_TIP(ip16(modes_16_mid)), E_TNT("T"), E_MODE(EXEC_64),
		     E_TIP(modes_16_back), E_FUP(modes_16_off), E_PGD_NOIP);

	code16_set_64bit(UNUSED_BASE);
	snippet_run(modes_base, CTL_TRACE_OS);
	code16_restore();
	EXPECT_TRACE("modes: a 64-bit segment's base is in no IP",
		     E_PGE(modes_base_on), E_TIP(modes_base_start), E_TIP(modes_base_mid),
		     E_TIP(modes_base_back), E_FUP(modes_base_off), E_PGD_NOIP);

	/* Tracing begins in 32-bit code: MODE.Exec says so, in PSB+ or before TIP.PGE. */
	snippet_run(modes_enable_32, CTL_TRACE_OS);
	ok(trace_count(P_MODE_EXEC) >= 1 && trace_find(P_MODE_EXEC, 0)->val == EXEC_32,
	   "modes: enabled in 32-bit code: MODE.Exec");
	EXPECT_TRACE("modes: enabled in 32-bit code: TIP.PGE",
		     E_PGE(modes_enable_32_on), E_FUP(modes_enable_32_off), E_PGD_NOIP);

	gate_set(VECTOR_UD, far_skip2_handler, 0);
	snippet_run(modes_fault_32, CTL_TRACE_OS);
	gate_default(VECTOR_UD);
	EXPECT_TRACE("modes: a fault in 32-bit code and the return to it",
		     E_PGE(modes_fault_32_on), E_MODE(EXEC_32), E_TIP(modes_fault_32_start),
		     E_FUP(modes_fault_32_insn), E_MODE(EXEC_64), E_TIP(far_skip2_handler),
		     E_MODE(EXEC_32), E_TIP(modes_fault_32_next), E_MODE(EXEC_64),
		     E_TIP(modes_fault_32_back), E_FUP(modes_fault_32_off), E_PGD_NOIP);
	pt_reset();
}
