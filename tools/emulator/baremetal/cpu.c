// SPDX-License-Identifier: GPL-2.0-only
/* Descriptor tables, and exceptions: expected ones resume, others end the run. */
#include "tap.h"

struct gate {
	u16 offset_low, selector;
	u8 ist, type;
	u16 offset_mid;
	u32 offset_high, zero;
};

struct tss {
	u32 reserved0;
	u64 rsp[3], reserved1, ist[7], reserved2;
	u16 reserved3, iomap;
} __attribute__((packed));

struct table_pointer {
	u16 limit;
	u64 base;
} __attribute__((packed));

#define GATE_INTERRUPT		0x8e
#define GATE_CALL		0x8c
#define GATE_DPL_SHIFT		5
#define DESC_TSS_AVAILABLE	0x89ul
#define DESC_CODE16		0x00009b000000fffful

#define STUB_SIZE		16

extern const u8 trap_stubs[];
extern u64 gdt[];
extern u64 trap_fixup;

volatile u32 irq_count[256];

static struct gate idt[256] __attribute__((aligned(16)));
static struct tss tss;
static u8 ist_stack[KERNEL_STACK_SIZE] __attribute__((aligned(16)));
static u8 ring0_stack[KERNEL_STACK_SIZE] __attribute__((aligned(16)));

static void gate_write(struct gate *g, const void *handler, u8 type, u8 ist)
{
	u64 ip = (u64)handler;

	*g = (struct gate) {
		.offset_low = ip,
		.selector = SEL_CODE64,
		.ist = ist,
		.type = type,
		.offset_mid = ip >> 16,
		.offset_high = ip >> 32,
	};
}

void gate_set(int vector, const void *handler, int dpl)
{
	gate_write(&idt[vector], handler,
		   GATE_INTERRUPT | dpl << GATE_DPL_SHIFT, 0);
}

void gate_default(int vector)
{
	/* An NMI may come on any stack, even on none. */
	gate_write(&idt[vector], trap_stubs + vector * STUB_SIZE,
		   GATE_INTERRUPT, vector == VECTOR_NMI);
}

void code16_set_64bit(u32 base)
{
	gdt[SEL_CODE16 / 8] = gdt[SEL_CODE64 / 8];
	code16_set_base(base);
}

void code16_restore(void)
{
	gdt[SEL_CODE16 / 8] = DESC_CODE16;
}

void call_gate_set(const void *target)
{
	gate_write((struct gate *)&gdt[SEL_CALL_GATE / 8], target, GATE_CALL, 0);
}

void code16_set_base(u32 base)
{
	u64 *d = &gdt[SEL_CODE16 / 8];

	*d &= ~(GENMASK(39, 16) | GENMASK(63, 56));
	*d |= (u64)(base & 0xffffff) << 16 | (u64)(base >> 24) << 56;
}

static void tss_init(void)
{
	u64 base = (u64)&tss;

	tss.rsp[0] = (u64)(ring0_stack + sizeof(ring0_stack));
	tss.ist[0] = (u64)(ist_stack + sizeof(ist_stack));
	tss.iomap = sizeof(tss);
	gdt[SEL_TSS / 8] = (sizeof(tss) - 1) | (base & 0xffffff) << 16 |
		DESC_TSS_AVAILABLE << 40 | (base >> 24 & 0xff) << 56;
	gdt[SEL_TSS / 8 + 1] = base >> 32;
	asm volatile("ltr %w0" :: "r" (SEL_TSS));
}

void cpu_init_other(void)
{
	struct table_pointer p = { sizeof(idt) - 1, (u64)idt };

	asm volatile("lidt %0" :: "m" (p));
}

void cpu_init(void)
{
	for (int v = 0; v < 256; v++)
		gate_default(v);
	tss_init();
	cpu_init_other();
}

void trap_dispatch(struct trap_frame *f)
{
	irq_count[f->vector & 0xff]++;
	if (f->vector == VECTOR_NMI)
		return;
	if (f->vector >= 32) {
		lapic_eoi();
		return;
	}
	if (!trap_fixup)
		bail_out("unexpected exception %lu, error 0x%lx, at 0x%lx",
			 f->vector, f->error, f->ip);
	f->ip = trap_fixup;
	f->ax = TRAPPED(f->vector);
	trap_fixup = 0;
}

u64 rdmsr(u32 msr)
{
	u64 v = 0;

	if (rdmsr_safe(msr, &v))
		bail_out("RDMSR 0x%x faulted", msr);
	return v;
}

void wrmsr(u32 msr, u64 val)
{
	if (wrmsr_safe(msr, val))
		bail_out("WRMSR 0x%x = 0x%lx faulted", msr, val);
}

u32 max_phys_addr_bits(void)
{
	return cpuid(0x80000008, 0).a & 0xff;
}

u32 max_linear_addr_bits(void)
{
	return cpuid(0x80000008, 0).a >> 8 & 0xff;
}
