/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Performance counters, last branch records, branch trace store and Intel PT,
 * as a program in ring 0 finds them.  Each is given a loop whose instructions
 * and branches are known, and must tell exactly these.
 *
 * Wants a CPU with pmu=on,intel-pt=on.
 */
#include <stdbool.h>
#include <stdint.h>
#include <minilib.h>

#define MSR_DEBUGCTL            0x1d9
#define MSR_LASTBRANCH_TOS      0x1c9
#define MSR_LASTBRANCH_FROM     0x680
#define MSR_LASTBRANCH_TO       0x6c0
#define MSR_FIXED_CTR0          0x309
#define MSR_FIXED_CTR_CTRL      0x38d
#define MSR_GLOBAL_CTRL         0x38f
#define MSR_RTIT_OUTPUT_BASE    0x560
#define MSR_RTIT_OUTPUT_MASK    0x561
#define MSR_RTIT_CTL            0x570
#define MSR_RTIT_STATUS         0x571
#define MSR_DS_AREA             0x600

#define DEBUGCTL_LBR            (1u << 0)
#define DEBUGCTL_TR             (1u << 6)
#define DEBUGCTL_BTS            (1u << 7)
#define DEBUGCTL_BTINT          (1u << 8)

#define RTIT_CTL_TRACE_EN       (1u << 0)
#define RTIT_CTL_OS             (1u << 2)
#define RTIT_CTL_BRANCH_EN      (1u << 13)
#define RTIT_STATUS_ERROR       (1u << 4)

#define BUFFER                  4096
#define ITERATIONS              100

static uint8_t buffer[BUFFER] __attribute__((aligned(BUFFER)));
static int failures;

static void check(bool ok, const char *what)
{
    ml_printf("%s: %s\n", ok ? "PASS" : "FAIL", what);
    failures += !ok;
}

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

static void cpuid(uint32_t leaf, uint32_t regs[4])
{
    asm volatile("cpuid" : "=a" (regs[0]), "=b" (regs[1]), "=c" (regs[2]),
                 "=d" (regs[3]) : "a" (leaf), "c" (0));
}

/* The loop between two writes of @msr: only it is counted or traced. */
static void run_loop(uint32_t msr, uint32_t on, uint32_t off, uint64_t n)
{
    asm volatile("wrmsr\n"
                 "1: dec %[n]\n"
                 "jnz 1b\n"
                 "mov %[off], %%eax\n"
                 "wrmsr\n"
                 : [n] "+&r" (n), "+a" (on)
                 : "c" (msr), "d" (0), [off] "r" (off)
                 : "memory", "cc");
}

static uint64_t count_loop(uint64_t n)
{
    uint32_t high = 1;

    wrmsr(MSR_FIXED_CTR0, 0);
    wrmsr(MSR_FIXED_CTR_CTRL, 1);
    wrmsr(MSR_GLOBAL_CTRL, 0);
    asm volatile("wrmsr\n"
                 "1: dec %[n]\n"
                 "jnz 1b\n"
                 "xor %%edx, %%edx\n"
                 "wrmsr\n"
                 : [n] "+&r" (n), "+d" (high)
                 : "c" (MSR_GLOBAL_CTRL), "a" (0)
                 : "memory", "cc");
    return rdmsr(MSR_FIXED_CTR0);
}

static void test_counters(void)
{
    uint64_t one = count_loop(1), many = count_loop(ITERATIONS);

    check(one > 0, "the fixed counter counts instructions");
    check(many - one == 2 * (ITERATIONS - 1), "each of them, and no other");
}

static void test_lbr(void)
{
    uint64_t tos, from, to;

    run_loop(MSR_DEBUGCTL, DEBUGCTL_LBR, 0, 3);
    tos = rdmsr(MSR_LASTBRANCH_TOS);
    from = rdmsr(MSR_LASTBRANCH_FROM + tos);
    to = rdmsr(MSR_LASTBRANCH_TO + tos);
    /* DEC is 3 bytes long with any register of 64 bits, JNZ follows it. */
    check(tos == 2, "two taken branches are recorded");
    check(from - to == 3, "from JNZ to DEC");
}

static void test_bts(void)
{
    enum { BASE, INDEX, MAXIMUM, THRESHOLD, WORDS };
    enum { FROM, TO, FLAGS, RECORD };
    static uint64_t area[WORDS], records[4 * RECORD];
    uint64_t base = (uintptr_t)records;

    area[BASE] = base;
    area[INDEX] = base;
    area[MAXIMUM] = base + sizeof(records);
    area[THRESHOLD] = base + 2 * sizeof(records);
    wrmsr(MSR_DS_AREA, (uintptr_t)area);
    run_loop(MSR_DEBUGCTL, DEBUGCTL_TR | DEBUGCTL_BTS | DEBUGCTL_BTINT, 0, 3);
    check(area[INDEX] - base == 2 * RECORD * sizeof(uint64_t),
          "two taken branches are stored");
    check(records[FROM] - records[TO] == 3 && records[RECORD] == records[FROM],
          "from JNZ to DEC");
}

/* What a trace has, of packets that a loop in ring 0 may make. */
typedef struct Trace {
    int psb, psbend, pge, pgd;
    int bits, taken;
    bool last_taken;
} Trace;

static int ip_size(uint8_t header)
{
    static const int sizes[8] = { 1, 3, 5, 7, 7, 1, 9, 1 };

    return sizes[header >> 5];
}

static void add_bits(Trace *t, uint64_t bits)
{
    int n = 63;

    while (n && !(bits >> n)) {
        n--;
    }
    while (n--) {
        t->last_taken = bits >> n & 1;
        t->taken += t->last_taken;
        t->bits++;
    }
}

/* Length of the packet at @p, 0 if there is none that a loop may make. */
static int add_packet(Trace *t, const uint8_t *p)
{
    uint64_t bits = 0;

    if (p[0] == 0) {
        return 1;
    }
    if (p[0] == 0x02) {
        switch (p[1]) {
        case 0x82:
            t->psb++;
            return 16;
        case 0x23:
            t->psbend++;
            return 2;
        case 0x03:
            return 4;
        case 0x43:
            return 8;
        case 0xa3:
            for (int i = 7; i >= 2; i--) {
                bits = bits << 8 | p[i];
            }
            add_bits(t, bits);
            return 8;
        default:
            return 0;
        }
    }
    if (p[0] == 0x99) {
        return 2;
    }
    if (!(p[0] & 1)) {
        add_bits(t, p[0] >> 1);
        return 1;
    }
    switch (p[0] & 0x1f) {
    case 0x11:
        t->pge++;
        return ip_size(p[0]);
    case 0x01:
        t->pgd++;
        return ip_size(p[0]);
    case 0x1d:
        return ip_size(p[0]);
    default:
        return 0;
    }
}

static void test_pt(void)
{
    static Trace t;
    uint64_t end, at = 0;
    int len = 1;

    wrmsr(MSR_RTIT_OUTPUT_BASE, (uintptr_t)buffer);
    wrmsr(MSR_RTIT_OUTPUT_MASK, BUFFER - 1);
    wrmsr(MSR_RTIT_STATUS, 0);
    run_loop(MSR_RTIT_CTL, RTIT_CTL_TRACE_EN | RTIT_CTL_OS | RTIT_CTL_BRANCH_EN,
             0, ITERATIONS);
    end = rdmsr(MSR_RTIT_OUTPUT_MASK) >> 32;
    check(!(rdmsr(MSR_RTIT_STATUS) & RTIT_STATUS_ERROR), "no error");
    check(end > 16 && end < BUFFER, "there is a trace");
    while (at < end && len) {
        len = add_packet(&t, buffer + at);
        at += len;
    }
    check(at == end, "of packets that such a loop makes");
    check(buffer[0] == 0x02 && buffer[1] == 0x82 && t.psb == 1 && t.psbend == 1,
          "it begins with PSB");
    check(t.pge == 1 && t.pgd == 1, "TIP.PGE and TIP.PGD");
    check(t.bits == ITERATIONS, "a bit for each conditional branch");
    check(t.taken == ITERATIONS - 1 && !t.last_taken, "all taken but the last");
}

int main(void)
{
    uint32_t regs[4];

    cpuid(0x0a, regs);
    check((regs[0] & 0xff) == 4, "version 4 of performance monitoring");
    cpuid(7, regs);
    check(regs[1] >> 25 & 1, "Intel PT is there");
    cpuid(0x14, regs);
    check(regs[2] & 4, "with output to a single range");
    if (!failures) {
        test_counters();
        test_lbr();
        test_bts();
        test_pt();
    }
    return failures;
}
