// SPDX-License-Identifier: GPL-2.0-only
/*
 * "scenario=pmi": every region of the output asks for a PMI, which fault
 * injection delays (x-pt-pmi-delay), so that one is on its way whenever the
 * guest tells how far it is. It must come, wherever the guest is then.
 */
#include "pattern.h"
#include "pt.h"

#define PMI_VECTOR	0x57
#define WAIT_TSC	25000000000ul	/* ten seconds */

void pmi_init(void)
{
	lapic_init();
	lapic_set_lvtpc(PMI_VECTOR);
}

void pmi_wait(u64 ctl)
{
	u32 before = irq_count[PMI_VECTOR];
	u64 end = rdtsc() + WAIT_TSC;

	wrmsr(MSR_RTIT_CTL, ctl & ~CTL_TRACEEN);
	asm volatile("sti");
	while (irq_count[PMI_VECTOR] == before && rdtsc() < end)
		;
	asm volatile("cli");
	print("PMI: %s\n", irq_count[PMI_VECTOR] == before ? "lost" : "it came");
	wrmsr(MSR_PERF_GLOBAL_RESET, GLOBAL_TOPA_PMI);
	lapic_set_lvtpc(PMI_VECTOR);
	wrmsr(MSR_RTIT_CTL, ctl);
}
