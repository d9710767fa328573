/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records of processor event-based sampling (PEBS) that a counter of reference
 * cycles makes, in 32-bit mode.  The page table of the debug store is no
 * memory: it is the local APIC, a register of which has the entry.
 *
 * Wants a CPU with pmu=on and x-pebs=on or x-pebs-adaptive=on.
 */
#include <stdbool.h>
#include <stdint.h>
#include <minilib.h>

#define MSR_APIC_BASE           0x1b
#define MSR_PMC0                0xc1
#define MSR_EVTSEL0             0x186
#define MSR_PERF_CAPABILITIES   0x345
#define MSR_GLOBAL_CTRL         0x38f
#define MSR_PEBS_ENABLE         0x3f1
#define MSR_PEBS_DATA_CFG       0x3f2
#define MSR_DS_AREA             0x600

#define CAP_PEBS_ADAPTIVE       (1u << 14)
#define CFG_XMM                 (1u << 2)

/* CPU_CLK_UNHALTED.REF in ring 0; and "ask MSR_PEBS_DATA_CFG" */
#define EVTSEL                  (0x3c | 0x01 << 8 | 1u << 17 | 1u << 22)
#define EVTSEL_ADAPTIVE         (1ull << 34)
#define PERIOD                  100000
#define TSC_HZ                  2500000000ull

#define PTE_P                   0x01
#define PTE_RW                  0x02
#define PTE_PS                  0x80
#define CR0_PG                  (1u << 31)
#define CR0_EM                  (1u << 2)
#define CR4_PSE                 (1u << 4)
#define CR4_OSFXSR              (1u << 9)

/* The register is the timer's initial count, which keeps what is written. */
#define APIC                    0xfee00000u
#define APIC_TMICT              0x380
/* What the page table at the local APIC maps, and the page that TMICT does */
#define STRANGE                 0x80000000u
#define STRANGE_AREA            (STRANGE + APIC_TMICT / 4 * 4096)
/* Not mapped at all */
#define NOWHERE                 0xa0000000u

/* Words of the area, from the part that is about PEBS on */
enum { BASE = 4, INDEX, MAXIMUM, THRESHOLD, RESET };

/* Words of a record of format 3, and of one with the XMM registers */
enum { FLAGS, IP, REGS, R8 = REGS + 8, WORDS = 25 };
enum { FORMAT, XMM = 4, XMM8 = XMM + 16, WORDS_XMM = XMM + 32 };

static uint32_t directory[1024] __attribute__((aligned(4096)));
static uint64_t area[512] __attribute__((aligned(4096)));
static uint64_t buffer[64];
static const uint64_t pattern[2] __attribute__((aligned(16))) = {
    0x0123456789abcdef, 0xfedcba9876543210,
};
static bool adaptive;
static int failures;

static void check(bool ok, const char *what)
{
    ml_printf("%s: %s\n", ok ? "PASS" : "FAIL", what);
    failures += !ok;
}

static uint64_t rdmsr(uint32_t msr)
{
    uint64_t val;

    asm volatile("rdmsr" : "=A" (val) : "c" (msr));
    return val;
}

static void wrmsr(uint32_t msr, uint64_t val)
{
    asm volatile("wrmsr" : : "c" (msr), "A" (val) : "memory");
}

static uint64_t rdtsc(void)
{
    uint64_t val;

    /* What the processor writes by itself is seen anew behind it. */
    asm volatile("rdtsc" : "=A" (val) : : "memory");
    return val;
}

static uint32_t address(const void *p)
{
    return (uintptr_t)p;
}

static void page(void)
{
    uint32_t cr0, cr4;

    for (uint32_t i = 0; i < 1024; i++) {
        directory[i] = i << 22 | PTE_PS | PTE_RW | PTE_P;
    }
    directory[STRANGE >> 22] = APIC | PTE_RW | PTE_P;
    directory[NOWHERE >> 22] = 0;
    asm volatile("mov %%cr4, %0" : "=r" (cr4));
    asm volatile("mov %0, %%cr4" : : "r" (cr4 | CR4_PSE | CR4_OSFXSR));
    asm volatile("mov %0, %%cr3" : : "r" (directory) : "memory");
    asm volatile("mov %%cr0, %0" : "=r" (cr0));
    asm volatile("mov %0, %%cr0" : : "r" ((cr0 & ~CR0_EM) | CR0_PG)
                 : "memory");
    asm volatile("mov %1, (%0)" : : "r" (APIC + APIC_TMICT),
                 "r" (address(area) | PTE_RW | PTE_P) : "memory");
}

static uint32_t size(void)
{
    return (adaptive ? WORDS_XMM : WORDS) * sizeof(uint64_t);
}

/* Loads the registers, the last of them with an operand in memory. */
static void set_xmm(void)
{
    asm volatile("movdqa (%0), %%xmm0\n"
                 "movdqa %%xmm0, %%xmm1\n"
                 "movdqa %%xmm0, %%xmm2\n"
                 "movdqa %%xmm0, %%xmm3\n"
                 "movdqa %%xmm0, %%xmm4\n"
                 "movdqa %%xmm0, %%xmm5\n"
                 "movdqa %%xmm0, %%xmm6\n"
                 "pxor %%xmm7, %%xmm7\n"
                 "paddd (%0), %%xmm7\n"
                 : : "r" (pattern) : "memory");
}

/* Counts for a tenth of a second, or until @index is another. */
static void count(uint64_t index)
{
    uint64_t end = rdtsc() + TSC_HZ / 10;

    wrmsr(MSR_GLOBAL_CTRL, 0);
    wrmsr(MSR_PMC0, (uint32_t)-PERIOD);
    wrmsr(MSR_EVTSEL0, EVTSEL | (adaptive ? EVTSEL_ADAPTIVE : 0));
    wrmsr(MSR_PEBS_ENABLE, 1);
    set_xmm();
    wrmsr(MSR_GLOBAL_CTRL, 1);
    while (area[INDEX] == index && rdtsc() < end) {
        continue;
    }
    wrmsr(MSR_GLOBAL_CTRL, 0);
    wrmsr(MSR_PEBS_ENABLE, 0);
}

/* What comes of a buffer at @base that has room for @bytes */
static bool sample(uint32_t base, uint32_t bytes)
{
    area[BASE] = base;
    area[INDEX] = base;
    area[MAXIMUM] = base + bytes;
    area[THRESHOLD] = base + 2 * size();
    area[RESET] = -PERIOD & 0xffffffffffffull;
    count(base);
    return area[INDEX] == base + size();
}

static bool zero(unsigned first, unsigned end)
{
    uint64_t all = 0;

    while (first < end) {
        all |= buffer[first++];
    }
    return !all;
}

static void test_registers(void)
{
    uint32_t esp = buffer[REGS + 7];

    if (!adaptive) {
        check(esp && !(buffer[REGS + 7] >> 32), "with the registers");
        check(zero(R8, R8 + 8), "and none of R8 to R15");
        return;
    }
    check(buffer[FORMAT] == ((uint64_t)size() << 48 | CFG_XMM),
          "with the XMM registers");
    check(buffer[XMM] == pattern[0] && buffer[XMM8 - 1] == pattern[1],
          "as they are");
    check(zero(XMM8, WORDS_XMM), "and none of XMM8 to XMM15");
}

int main(void)
{
    check(rdmsr(MSR_APIC_BASE) == (APIC | 1u << 11 | 1u << 8),
          "the local APIC is where it should be");
    adaptive = rdmsr(MSR_PERF_CAPABILITIES) & CAP_PEBS_ADAPTIVE;
    if (adaptive) {
        wrmsr(MSR_PEBS_DATA_CFG, CFG_XMM);
    }
    page();
    wrmsr(MSR_DS_AREA, STRANGE_AREA);

    check(sample(address(buffer), size()), "there is a record");
    test_registers();
    check(!sample(address(buffer), size() - 1), "none without room");
    check(rdmsr(MSR_PMC0) == 0xffffffffffffull, "the counter waits");
    check(!sample(NOWHERE, size()), "none where there is no memory");
    check(sample(address(buffer), size()), "then there is one again");
    return failures;
}
