/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * MOV to CR3 across two pages, in a guest of this program.  The value has
 * reserved bits, so the instruction exits, and the exit must tell its RIP.
 *
 * Wants a CPU with svm=on.
 */
#include <stdbool.h>
#include <stdint.h>
#include <minilib.h>

#define MSR_EFER        0xc0000080
#define MSR_VM_HSAVE_PA 0xc0010117
#define EFER_SVME       (1u << 12)
#define RESERVED        (1ull << 60)
#define EXIT_INVALID    UINT64_MAX

/* The parts of a VMCB that are used, by offset in it */
#define VMCB_INTERCEPT_SVM      0x010
#define VMCB_ASID               0x058
#define VMCB_EXIT_CODE          0x070
#define VMCB_ES                 0x400
#define VMCB_CS                 0x410
#define VMCB_SS                 0x420
#define VMCB_DS                 0x430
#define VMCB_EFER               0x4d0
#define VMCB_CR4                0x548
#define VMCB_CR3                0x550
#define VMCB_CR0                0x558
#define VMCB_RFLAGS             0x570
#define VMCB_RIP                0x578
#define VMCB_RSP                0x5d8
#define VMCB_RAX                0x5f8

#define CODE            0xa9b
#define DATA            0xc93

asm(".text\n"
    ".balign 4096\n"
    ".skip 4095\n"
    "across: mov %rax, %cr3\n"
    "hlt\n");

static uint8_t vmcb[4096] __attribute__((aligned(4096)));
static uint8_t hsave[4096] __attribute__((aligned(4096)));
static uint64_t stack[64];

static uint64_t rdmsr(uint32_t msr)
{
    uint32_t low, high;

    asm volatile("rdmsr" : "=a" (low), "=d" (high) : "c" (msr));
    return (uint64_t)high << 32 | low;
}

static void wrmsr(uint32_t msr, uint64_t val)
{
    asm volatile("wrmsr" : : "c" (msr), "a" ((uint32_t)val),
                 "d" ((uint32_t)(val >> 32)) : "memory");
}

static void set(unsigned at, uint64_t val)
{
    *(uint64_t *)(vmcb + at) = val;
}

static uint64_t get(unsigned at)
{
    return *(uint64_t *)(vmcb + at);
}

/* Selector, attributes and limit; the base is 0 */
static void set_segment(unsigned at, uint16_t selector, uint16_t attributes)
{
    set(at, selector | attributes << 16 | 0xffffffffull << 32);
}

static uintptr_t instruction(void)
{
    uintptr_t at;

    asm("lea across(%%rip), %0" : "=r" (at));
    return at;
}

static void set_guest(void)
{
    uint64_t val;

    set(VMCB_INTERCEPT_SVM, 1);     /* VMRUN, as the processor demands */
    set(VMCB_ASID, 1);
    set_segment(VMCB_CS, 0x8, CODE);
    set_segment(VMCB_DS, 0x10, DATA);
    set_segment(VMCB_ES, 0x10, DATA);
    set_segment(VMCB_SS, 0x10, DATA);
    set(VMCB_EFER, rdmsr(MSR_EFER));
    asm volatile("mov %%cr0, %0" : "=r" (val));
    set(VMCB_CR0, val);
    asm volatile("mov %%cr3, %0" : "=r" (val));
    set(VMCB_CR3, val);
    asm volatile("mov %%cr4, %0" : "=r" (val));
    set(VMCB_CR4, val);
    set(VMCB_RFLAGS, 2);
    set(VMCB_RIP, instruction());
    set(VMCB_RSP, (uintptr_t)(stack + 64));
    set(VMCB_RAX, RESERVED);
}

int main(void)
{
    bool exited, right;

    wrmsr(MSR_EFER, rdmsr(MSR_EFER) | EFER_SVME);
    wrmsr(MSR_VM_HSAVE_PA, (uintptr_t)hsave);
    set_guest();
    asm volatile("vmrun" : : "a" (vmcb) : "memory", "cc");
    exited = get(VMCB_EXIT_CODE) == EXIT_INVALID;
    right = get(VMCB_RIP) == instruction();
    ml_printf("%s: it exits, code 0x%lx\n", exited ? "PASS" : "FAIL",
              get(VMCB_EXIT_CODE));
    ml_printf("%s: at 0x%lx, which is 0x%lx\n", right ? "PASS" : "FAIL",
              get(VMCB_RIP), instruction());
    return !exited || !right;
}
