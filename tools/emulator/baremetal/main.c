// SPDX-License-Identifier: GPL-2.0-only
/*
 * The list of subjects. The command line is words of the form name=value:
 *
 *   only=SUBJECT             runs one subject besides "cpuid"
 *   pt=0|1                   Intel PT is to be in CPUID (default 1)
 *   CAPABILITY=0|1, ranges=N what CPUID is to show, names in test_cpuid.c
 *   icount=1                 time is exact: the machine counts instructions
 *   smp=N, smi=1             there are N processors; firmware handles SMIs
 *   seconds=N                how long the processors patch code of each other (default 10)
 *   rude=MANNER              what the processor does that the SDM permits, names in test_rude.c
 *   erratum=NAME             the erratum that the processor has, names in test_errata.c
 *   lazy=1                   packets stay in the processor until TraceEn is cleared
 *   retnoip=1                a RET that leaves the IP ranges has TIP.PGD without IP
 *   bts=0, dtes64=0, dscpl=0 what branch trace store has not; pebs=1: there is PEBS
 *   adaptive=1, traced=1     PEBS is adaptive; its records can go to a trace
 *   dirty=1                  the MSRs of Intel PT are not zero at power-on
 *   lefton=1                 the firmware has left TraceEn set
 *   reset=1                  resets the machine first: the MSRs are as that leaves them
 *   ovf=N, pmidelay=NS       the faults that the machine injects
 *   assume=1                 runs the subjects although CPUID has no Intel PT
 */
#include "pt.h"

static const struct {
	const char *name;
	void (*run)(void);
	bool needs_output;	/* traces into memory */
} subjects[] = {
	{ "reset", test_reset, false },
	{ "msr", test_msr, false },
	{ "output", test_output, true },
	{ "output-errors", test_output_errors, true },
	{ "hostile", test_hostile, true },
	{ "pmi", test_pmi, true },
	{ "psb", test_psb, true },
	{ "near", test_near, true },
	{ "ip", test_ip, true },
	{ "far", test_far, true },
	{ "user", test_user, true },
	{ "modes", test_modes, true },
	{ "filter", test_filter, true },
	{ "tracestop", test_tracestop, true },
	{ "ptwrite", test_ptwrite, true },
	{ "timing", test_timing, true },
	{ "power", test_power, true },
	{ "event", test_event, true },
	{ "overflow", test_overflow, true },
	{ "legacy", test_legacy, true },
	{ "mix", test_mix, true },
	{ "smp", test_smp, true },
	{ "rude", test_rude, true },
	{ "errata", test_errata, true },
};

static const struct {
	const char *name;
	void (*run)(void);
} other_subjects[] = {
	{ "perfmon", test_perfmon },
	{ "lbr", test_lbr },
	{ "bts", test_bts },
	{ "step", test_step },
	{ "pebs", test_pebs },
	{ "patch", test_patch },
};

static bool wanted(const char *name)
{
	return !cmdline_get("only") || cmdline_is("only", name);
}

void __attribute__((noreturn)) main(const void *start_info)
{
	bool have_pt;

	console_init();
	cmdline_init(start_info);
	cpu_init();
	lapic_init();
	have_pt = pt_init();
	if (cmdline_num("reset", 0))
		reset_once();
	print("TAP version 14\n");
	test_cpuid(have_pt);
	have_pt |= caps.bits != 0;
	for (u32 i = 0; have_pt && i < ARRAY_SIZE(subjects); i++) {
		if (!wanted(subjects[i].name))
			continue;
		if (subjects[i].needs_output && !has(CAP_TOPA | CAP_SINGLE))
			continue;
		diag("subject: %s", subjects[i].name);
		subjects[i].run();
	}
	for (u32 i = 0; i < ARRAY_SIZE(other_subjects); i++) {
		if (!wanted(other_subjects[i].name))
			continue;
		diag("subject: %s", other_subjects[i].name);
		other_subjects[i].run();
	}
	plan_and_exit();
}
