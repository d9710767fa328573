// SPDX-License-Identifier: GPL-2.0-only
/* The local APIC: interrupts to itself and to others, the timer, the PMI's LVT entry. */
#include "arch.h"

#define LAPIC_BASE		0xfee00000ul
#define LAPIC_EOI		0x0b0
#define LAPIC_SVR		0x0f0
#define LAPIC_ICR		0x300
#define LAPIC_ICR_DEST		0x310
#define LAPIC_LVT_TIMER		0x320
#define LAPIC_LVTPC		0x340
#define LAPIC_TIMER_INIT	0x380
#define LAPIC_TIMER_DIVIDE	0x3e0

#define PIC_MASTER_MASK		0x21
#define PIC_SLAVE_MASK		0xa1
#define PIC_MASK_ALL		0xff

#define SVR_ENABLE		BIT(8)
#define SPURIOUS_VECTOR		0xffu
#define ICR_SELF		FIELD_PREP(GENMASK(19, 18), 1)
#define ICR_OTHERS		FIELD_PREP(GENMASK(19, 18), 3)
#define ICR_ASSERT		BIT(14)
#define ICR_INIT		FIELD_PREP(GENMASK(10, 8), 5)
#define ICR_STARTUP		FIELD_PREP(GENMASK(10, 8), 6)
#define ICR_DEST_ID		GENMASK(31, 24)
#define DIVIDE_BY_1		0xbu
#define LVT_PERIODIC		BIT(17)

static volatile u32 *reg(u32 offset)
{
	return (volatile u32 *)(LAPIC_BASE + offset);
}

void lapic_init(void)
{
	/* Firmware may have left the old interrupt controllers at work. */
	outb(PIC_MASTER_MASK, PIC_MASK_ALL);
	outb(PIC_SLAVE_MASK, PIC_MASK_ALL);
	*reg(LAPIC_SVR) = SVR_ENABLE | SPURIOUS_VECTOR;
	*reg(LAPIC_LVTPC) = LAPIC_LVT_MASKED;
	*reg(LAPIC_LVT_TIMER) = LAPIC_LVT_MASKED;
	*reg(LAPIC_TIMER_DIVIDE) = DIVIDE_BY_1;
}

void lapic_eoi(void)
{
	*reg(LAPIC_EOI) = 0;
}

void lapic_self_ipi(u8 vector)
{
	*reg(LAPIC_ICR) = ICR_SELF | ICR_ASSERT | vector;
}

void lapic_ipi_others(u8 vector)
{
	*reg(LAPIC_ICR) = ICR_OTHERS | ICR_ASSERT | vector;
}

void lapic_start_cpu(u32 apic_id, u32 addr)
{
	*reg(LAPIC_ICR_DEST) = FIELD_PREP(ICR_DEST_ID, apic_id);
	*reg(LAPIC_ICR) = ICR_ASSERT | ICR_INIT;
	*reg(LAPIC_ICR_DEST) = FIELD_PREP(ICR_DEST_ID, apic_id);
	*reg(LAPIC_ICR) = ICR_ASSERT | ICR_STARTUP | addr >> 12;
	*reg(LAPIC_ICR_DEST) = 0;
}

void lapic_set_lvtpc(u32 val)
{
	*reg(LAPIC_LVTPC) = val;
}

u32 lapic_get_lvtpc(void)
{
	return *reg(LAPIC_LVTPC);
}

void lapic_timer(u8 vector, u32 count)
{
	*reg(LAPIC_LVT_TIMER) = vector ? vector : LAPIC_LVT_MASKED;
	*reg(LAPIC_TIMER_INIT) = vector ? count : 0;
}

void lapic_timer_periodic(u8 vector, u32 count)
{
	*reg(LAPIC_LVT_TIMER) = LVT_PERIODIC | vector;
	*reg(LAPIC_TIMER_INIT) = count;
}
