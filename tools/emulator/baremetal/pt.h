/* SPDX-License-Identifier: GPL-2.0-only */
/* Intel PT: registers, capabilities, output set-up, packets and their comparison. */
#ifndef PT_H
#define PT_H

#include "tap.h"

#define MSR_RTIT_OUTPUT_BASE	0x560
#define MSR_RTIT_OUTPUT_MASK	0x561
#define MSR_RTIT_CTL		0x570
#define MSR_RTIT_STATUS		0x571
#define MSR_RTIT_CR3_MATCH	0x572
#define MSR_RTIT_ADDR_A(n)	(0x580 + 2 * (n))
#define MSR_RTIT_ADDR_B(n)	(0x581 + 2 * (n))
#define MSR_PERF_GLOBAL_STATUS	0x38e
#define MSR_PERF_GLOBAL_CTRL	0x38f
#define MSR_PERF_GLOBAL_RESET	0x390

#define CTL_TRACEEN		BIT(0)
#define CTL_CYCEN		BIT(1)
#define CTL_OS			BIT(2)
#define CTL_USER		BIT(3)
#define CTL_PWREVTEN		BIT(4)
#define CTL_FUPONPTW		BIT(5)
#define CTL_FABRICEN		BIT(6)
#define CTL_CR3FILTER		BIT(7)
#define CTL_TOPA		BIT(8)
#define CTL_MTCEN		BIT(9)
#define CTL_TSCEN		BIT(10)
#define CTL_DISRETC		BIT(11)
#define CTL_PTWEN		BIT(12)
#define CTL_BRANCHEN		BIT(13)
#define CTL_MTCFREQ		GENMASK(17, 14)
#define CTL_CYCTHRESH		GENMASK(22, 19)
#define CTL_PSBFREQ		GENMASK(27, 24)
#define CTL_EVENTEN		BIT(31)
#define CTL_ADDR_CFG(n)		GENMASK(35 + 4 * (n), 32 + 4 * (n))
#define CTL_DISTNT		BIT(55)
#define CTL_INJECTPSBPMI	BIT(56)
#define ADDR_CFG_FILTER		1
#define ADDR_CFG_STOP		2

#define STATUS_FILTEREN		BIT(0)
#define STATUS_CONTEXTEN	BIT(1)
#define STATUS_TRIGGEREN	BIT(2)
#define STATUS_ERROR		BIT(4)
#define STATUS_STOPPED		BIT(5)
#define STATUS_PENDPSB		BIT(6)
#define STATUS_PENDTOPAPMI	BIT(7)
#define STATUS_BYTECNT		GENMASK(48, 32)

#define MASK_LOWER		GENMASK(6, 0)
#define MASK_TABLE_OFFSET	GENMASK(31, 7)
#define MASK_OUTPUT_OFFSET	GENMASK(63, 32)
#define TABLE_INDEX(n)		((u64)(n) << 7)

#define TOPA_END		BIT(0)
#define TOPA_INT		BIT(2)
#define TOPA_STOP		BIT(4)
#define TOPA_SIZE		GENMASK(9, 6)
#define TOPA_SIZE_4K		0
#define TOPA_SIZE_BYTES(s)	(4096ul << (s))

#define GLOBAL_TOPA_PMI		BIT(55)

/* CPUID 14H, as bits of EBX and ECX of sub-leaf 0. */
#define CAP_CR3FILTER		BIT(0)
#define CAP_PSBCYC		BIT(1)
#define CAP_IPFILTER		BIT(2)
#define CAP_MTC			BIT(3)
#define CAP_PTWRITE		BIT(4)
#define CAP_POWEREV		BIT(5)
#define CAP_PSBPMI		BIT(6)
#define CAP_EVENT		BIT(7)
#define CAP_NOTNT		BIT(8)
#define CAP_TOPA		BIT(32)
#define CAP_MULTI		BIT(33)
#define CAP_SINGLE		BIT(34)
#define CAP_FABRIC		BIT(35)
#define CAP_LIP			BIT(63)

struct pt_caps {
	u64 bits;		/* EBX, and ECX in the upper half */
	u32 ranges;
	u32 mtc_periods, cyc_thresholds, psb_freqs;
};

extern struct pt_caps caps;

static inline bool has(u64 cap)
{
	return caps.bits & cap;
}

/* False: the processor has no Intel PT. */
bool pt_init(void);

/* Tracing off, status and filters clear. */
void pt_reset(void);
/* Output begins where the two MSRs say. */
void pt_output_at(u64 base, u64 mask);
/* pt_reset() and one large output buffer (ToPA where there is one), with poison in it. */
void pt_output_setup(void);
u64 pt_output_bytes(void);
/* More was written than that buffer has room for, as on a slow host with much time in it. */
bool pt_output_wrapped(void);
#define OUTPUT_POISON		0xee
#define OUTPUT_SIZE		0x100000ul
/* Bytes at its end that are looked at for that: one alone may be the poison. */
#define WRAP_SAMPLE		16
#define OUTPUT_BUFFER		((u8 *)(ARENA + 0x1000000))
#define OUTPUT_TABLE		((u64 *)(ARENA + 0x0f00000))

/* @in .. @end (exclusive) is address range @n; what CTL has to say of it. */
u64 pt_range_set(u32 n, const u8 *in, const u8 *end, u64 config);

/* The choice of output scheme that pt_output_setup() made: CTL_TOPA or 0. */
u64 pt_output_ctl(void);
/* What most tests enable. */
#define CTL_TRACE_OS		(CTL_TRACEEN | CTL_OS | CTL_BRANCHEN)
#define CTL_TRACE_USER		(CTL_TRACEEN | CTL_USER | CTL_BRANCHEN)

enum pkt_type {
	P_END, P_PAD, P_TNT, P_TIP, P_PGE, P_PGD, P_FUP, P_PIP, P_MODE_EXEC,
	P_MODE_TSX, P_TSC, P_TMA, P_MTC, P_CYC, P_CBR, P_PSB, P_PSBEND, P_OVF,
	P_STOP, P_VMCS, P_MNT, P_PTW, P_EXSTOP, P_MWAIT, P_PWRE, P_PWRX, P_CFE,
	P_EVD, P_BBP, P_BIP, P_BEP, P_BAD,
};

struct pkt {
	u8 type;
	u8 len;
	u8 ip_bytes;		/* the header field of TIP, PGE, PGD, FUP */
	u8 flag;		/* IP bit of PTW, EXSTOP, BEP, CFE; NR of PIP; FastCounter's bit 8 */
	u8 aux;			/* number of TNT bits, payload size of PTW, type of CFE, EVD, BIP */
				/* bytes of a BBP's items */
	bool in_psb;		/* between PSB and PSBEND */
	u32 offset;
	u64 val;
};

#define IPBYTES_NONE	0
#define IPBYTES_16	1
#define IPBYTES_32	2
#define IPBYTES_48_SEXT	3
#define IPBYTES_48	4
#define IPBYTES_64	6

#define EXEC_CS_L	BIT(0)
#define EXEC_CS_D	BIT(1)
#define EXEC_IF		BIT(2)
#define EXEC_64		EXEC_CS_L
#define EXEC_32		EXEC_CS_D
#define EXEC_16		0

#define MAX_PKTS	65536

struct trace {
	u32 n;
	struct pkt pkt[MAX_PKTS];
	u64 bytes;
};

extern struct trace trace;

const char *pkt_name(int type);
void pkt_print(const struct pkt *p);
/* Parses @bytes at @buf into @trace; the last packet is P_BAD where parsing failed. */
bool trace_parse(const u8 *buf, u64 bytes);
/* Parses what is in the output buffer of pt_output_setup(). */
bool trace_collect(void);
void trace_dump(void);
u32 trace_count(int type);
const struct pkt *trace_find(int type, u32 nth);
/* The packet behind @p that is not about time or padding, or NULL. */
struct pkt *trace_next(const struct pkt *p);

/*
 * One expected packet. Packets within PSB+, PAD and timing packets are not
 * compared here, a run of TNT packets counts as one, MODE.Exec may be repeated
 * before TIP.PGE. P_TNT: @bits is a string of 'T' and 'N', oldest first.
 */
struct expect {
	u8 type;
	u8 aux;
	bool no_ip;
	bool any;		/* the value does not matter */
	bool flag;
	u64 val;
	const char *bits;
};

#define E_TNT(s)	{ .type = P_TNT, .bits = (s) }
#define E_TIP(ip)	{ .type = P_TIP, .val = (u64)(ip) }
#define E_PGE(ip)	{ .type = P_PGE, .val = (u64)(ip) }
#define E_PGD(ip)	{ .type = P_PGD, .val = (u64)(ip) }
#define E_PGD_NOIP	{ .type = P_PGD, .no_ip = true }
#define E_FUP(ip)	{ .type = P_FUP, .val = (u64)(ip) }
#define E_MODE(m)	{ .type = P_MODE_EXEC, .val = (m) }
#define E_PIP(cr3)	{ .type = P_PIP, .val = (cr3) }
#define E_STOP		{ .type = P_STOP }
#define E_OVF		{ .type = P_OVF }
#define E_PTW(size, v, ip) { .type = P_PTW, .aux = (size), .val = (v), .flag = (ip) }
#define E_CFE(kind, vec, ip) { .type = P_CFE, .aux = (kind), .val = (vec), .flag = (ip) }
#define E_EVD(kind, v)	{ .type = P_EVD, .aux = (kind), .val = (v) }
#define E_BBP(kind, size) { .type = P_BBP, .aux = (size), .val = (kind) }
#define E_BIP(id, v)	{ .type = P_BIP, .aux = (id), .val = (u64)(v) }
#define E_BIP_ANY(id)	{ .type = P_BIP, .aux = (id), .any = true }
#define E_BEP(ip)	{ .type = P_BEP, .flag = (ip) }
#define E_MWAIT(v)	{ .type = P_MWAIT, .val = (v) }
#define E_PWRE(v)	{ .type = P_PWRE, .val = (v) }
#define E_PWRX(v)	{ .type = P_PWRX, .val = (v) }
#define E_EXSTOP(ip)	{ .type = P_EXSTOP, .flag = (ip) }

bool trace_match(const struct expect *e, u32 n, const char *name);
/* A test point: @e is exactly what the last trace holds. */
#define EXPECT_TRACE(name, ...) do {					\
	const struct expect e_[] = { __VA_ARGS__ };			\
	trace_match(e_, ARRAY_SIZE(e_), name);				\
} while (0)

/*
 * A traced sequence in assembly (snippet.h): starts and stops tracing itself
 * with the values below, so that no other code is in the trace.
 */
typedef void snippet_fn(void);
extern u64 snip_ctl_on, snip_ctl_off, snip_arg[8];

/* Output set up, @fn run with CTL = @ctl | ToPA, trace collected. */
bool snippet_run(snippet_fn *fn, u64 ctl);
/* The same without a new output buffer: filters and the like stay. */
bool snippet_run_prepared(snippet_fn *fn, u64 ctl);

void test_cpuid(bool have_pt);
/* Resets the machine while it traces, unless that has been done. */
void reset_once(void);
void test_reset(void);
void test_msr(void);
void test_output(void);
void test_output_errors(void);
void test_hostile(void);
void test_pmi(void);
void test_psb(void);
void test_near(void);
void test_ip(void);
void test_far(void);
void test_user(void);
void test_modes(void);
void test_filter(void);
void test_tracestop(void);
void test_ptwrite(void);
void test_timing(void);
void test_power(void);
void test_event(void);
void test_overflow(void);
void test_legacy(void);
void test_mix(void);
void test_smp(void);
void test_patch(void);
void test_rude(void);
void test_errata(void);
void test_perfmon(void);
void test_lbr(void);
void test_bts(void);
void test_step(void);
void test_pebs(void);

#endif
