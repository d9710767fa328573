/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests need of the x86-64 machine: fixed types, register access, the
 * descriptor layout, and traps that a test expects.
 */
#ifndef ARCH_H
#define ARCH_H

#include "layout.h"

#ifndef __ASSEMBLER__

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;
typedef _Bool bool;

#define true 1
#define false 0
#define NULL ((void *)0)

#define BIT(n)			(1ul << (n))
#define GENMASK(h, l)		((~0ul >> (63 - (h))) & (~0ul << (l)))
#define PAGE			4096ul
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define FIELD_SHIFT(mask)	((u32)__builtin_ctzl(mask))
#define FIELD_PREP(mask, val)	(((u64)(val) << FIELD_SHIFT(mask)) & (mask))
#define FIELD_GET(mask, reg)	(((reg) & (mask)) >> FIELD_SHIFT(mask))
#define barrier()		asm volatile("" ::: "memory")

#define VECTOR_DE	0
#define VECTOR_DB	1
#define VECTOR_NMI	2
#define VECTOR_BP	3
#define VECTOR_UD	6
#define VECTOR_GP	13
#define VECTOR_PF	14

#define CPUID_FEATURE_ECX_MONITOR	BIT(3)
#define CPUID_FEATURE_EDX_DS		BIT(21)

#define MSR_SYSENTER_CS		0x174
#define MSR_SYSENTER_ESP	0x175
#define MSR_SYSENTER_EIP	0x176
#define MSR_MISC_ENABLE		0x1a0
#define MSR_DEBUGCTL		0x1d9
#define MSR_DS_AREA		0x600
#define MSR_EFER		0xc0000080
#define MSR_STAR		0xc0000081
#define MSR_LSTAR		0xc0000082
#define MSR_FMASK		0xc0000084

#define EFER_SCE		BIT(0)

struct cpuid {
	u32 a, b, c, d;
};

static inline struct cpuid cpuid(u32 leaf, u32 sub)
{
	struct cpuid r;

	asm volatile("cpuid"
		     : "=a" (r.a), "=b" (r.b), "=c" (r.c), "=d" (r.d)
		     : "a" (leaf), "c" (sub));
	return r;
}

static inline void outb(u16 port, u8 v)
{
	asm volatile("outb %0, %1" :: "a" (v), "Nd" (port));
}

static inline u8 inb(u16 port)
{
	u8 v;

	asm volatile("inb %1, %0" : "=a" (v) : "Nd" (port));
	return v;
}

static inline u64 rdtsc(void)
{
	u32 lo, hi;

	asm volatile("rdtsc" : "=a" (lo), "=d" (hi));
	return (u64)hi << 32 | lo;
}

static inline u64 read_cr3(void)
{
	u64 v;

	asm volatile("mov %%cr3, %0" : "=r" (v));
	return v;
}

static inline void write_cr3(u64 v)
{
	asm volatile("mov %0, %%cr3" :: "r" (v) : "memory");
}

/* What the stubs in start.S push, lowest address first. */
struct trap_frame {
	u64 r15, r14, r13, r12, r11, r10, r9, r8;
	u64 bp, di, si, dx, cx, bx, ax;
	u64 vector, error;
	u64 ip, cs, flags, sp, ss;
};

/* Result of an access that may trap: 0, or 1 + the vector of the exception. */
#define TRAPPED(vector)		(1 + (vector))

int rdmsr_safe(u32 msr, u64 *val);
int wrmsr_safe(u32 msr, u64 val);
/* Accesses that must not fault: an exception ends the whole run. */
u64 rdmsr(u32 msr);
void wrmsr(u32 msr, u64 val);
int rdpmc_safe(u32 index, u64 *val);

void cpu_init(void);
/* On another processor: the first one's gates, but no task state, so no NMI. */
void cpu_init_other(void);
/* A gate straight to @handler, so that a traced test sees no stub's branches. */
#define DPL_USER	3
void gate_set(int vector, const void *handler, int dpl);
void gate_default(int vector);
/* Base of the 16-bit code segment SEL_CODE16. */
void code16_set_base(u32 base);
/* SEL_CODE16 as a 64-bit segment with a base, which 64-bit code does not have; and back. */
void code16_set_64bit(u32 base);
void code16_restore(void);
void call_gate_set(const void *target);

/* Vectors without a handler of their own count here (LAPIC, NMI). */
extern volatile u32 irq_count[256];

u32 max_phys_addr_bits(void);
u32 max_linear_addr_bits(void);

void lapic_init(void);
void lapic_eoi(void);
void lapic_self_ipi(u8 vector);
/* INIT and start-up interrupt: the processor begins at @addr, below 1 MiB, in real mode. */
void lapic_start_cpu(u32 apic_id, u32 addr);
/* Interrupt @vector to the processors other than this one. */
void lapic_ipi_others(u8 vector);
void lapic_set_lvtpc(u32 val);
u32 lapic_get_lvtpc(void);
/* One-shot timer: interrupt @vector after @count bus ticks; vector 0 stops it. */
void lapic_timer(u8 vector, u32 count);
/* The same again and again, until lapic_timer(0, 0). */
void lapic_timer_periodic(u8 vector, u32 count);

/* Starts the processor, which calls @entry; one that was started before starts again. */
#define SMP_TRAMPOLINE		0x8000ul
#define SMP_MAX			4
void smp_start(u32 apic_id, void (*entry)(void));

#define LAPIC_LVT_NMI		FIELD_PREP(GENMASK(10, 8), 4)
#define LAPIC_LVT_MASKED	BIT(16)

#define sti_nop_cli()		asm volatile("sti; nop; nop; cli" ::: "memory")

void *memset(void *p, int c, u64 n);
void *memcpy(void *d, const void *s, u64 n);
int memcmp(const void *a, const void *b, u64 n);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, u64 n);
u64 strlen(const char *s);

#endif /* !__ASSEMBLER__ */
#endif
