// SPDX-License-Identifier: GPL-2.0-only
/* perf_event_attr::config: what is taken on which CPU, and what becomes of it. */
#include "check.h"
#include "config.h"
#include "machine.h"

/* The uABI's, see the format directory in sysfs */
#define PT		(1UL << 0)
#define CYC		(1UL << 1)
#define PWR_EVT		(1UL << 4)
#define FUP_ON_PTW	(1UL << 5)
#define MTC		(1UL << 9)
#define TSC		(1UL << 10)
#define NORETCOMP	(1UL << 11)
#define PTW		(1UL << 12)
#define BRANCH		(1UL << 13)
#define MTC_PERIOD(n)	((u64)(n) << 14)
#define CYC_THRESH(n)	((u64)(n) << 19)
#define PSB_PERIOD(n)	((u64)(n) << 24)
#define EVENT		(1UL << 31)
#define NOTNT		(1UL << 55)
#define ALL_TERMS	(PT | CYC | PWR_EVT | FUP_ON_PTW | MTC | TSC | NORETCOMP | PTW | \
			 BRANCH | MTC_PERIOD(15) | CYC_THRESH(15) | PSB_PERIOD(15) | \
			 EVENT | NOTNT)

#define USR		(1UL << 3)
#define OS		(1UL << 2)

#define ANY		PT_NR_CAPS

/* What needs which capability; ANY: none */
static const struct {
	u64 config;
	enum pt_capabilities cap;
} terms[] = {
	{ 0, ANY },
	{ PT, ANY },
	{ PT | BRANCH, ANY },
	{ TSC, ANY },
	{ PT | BRANCH | TSC | NORETCOMP, ANY },
	{ CYC, PT_CAP_psb_cyc },
	{ CYC_THRESH(1), PT_CAP_psb_cyc },
	{ CYC_THRESH(1), PT_CAP_cycle_thresholds },
	{ CYC | CYC_THRESH(9), PT_CAP_cycle_thresholds },
	{ CYC | CYC_THRESH(9), PT_CAP_psb_cyc },
	{ PSB_PERIOD(1), PT_CAP_psb_cyc },
	{ PSB_PERIOD(1), PT_CAP_psb_periods },
	{ PSB_PERIOD(5), PT_CAP_psb_periods },
	{ PSB_PERIOD(5), PT_CAP_psb_cyc },
	{ MTC, PT_CAP_mtc },
	{ MTC, PT_CAP_mtc_periods },
	{ MTC_PERIOD(3), PT_CAP_mtc },
	{ MTC_PERIOD(3), PT_CAP_mtc_periods },
	{ MTC | MTC_PERIOD(9), PT_CAP_mtc_periods },
	{ MTC | MTC_PERIOD(9), PT_CAP_mtc },
	{ PTW, PT_CAP_ptwrite },
	{ PTW | FUP_ON_PTW, PT_CAP_ptwrite },
	{ PT | BRANCH | PTW, PT_CAP_ptwrite },
	{ PWR_EVT, PT_CAP_power_event_trace },
	{ EVENT, PT_CAP_event_trace },
	{ NOTNT, PT_CAP_tnt_disable },
};

static void test_matrix(void)
{
	struct pt_caps all = caps_all(), caps;
	unsigned int i, cap;
	bool bad;

	for (i = 0; i < ARRAY_SIZE(terms); i++) {
		EXPECT(pt_config_check(terms[i].config, &all, false) == 0);
		for (cap = 0; cap < PT_NR_CAPS; cap++) {
			caps = all;
			caps_clear(&caps, cap);
			bad = false;
			/* Other rows have what else the same terms need. */
			for (unsigned int j = 0; j < ARRAY_SIZE(terms); j++)
				bad |= terms[j].config == terms[i].config && terms[j].cap == cap;
			if (pt_config_check(terms[i].config, &caps, false) !=
			    (bad ? -EINVAL : 0))
				blame("config %lx without %s", terms[i].config,
				      pt_caps_name(cap));
		}
	}
	verdict("config: each term without each capability");
}

static void test_bits(void)
{
	struct pt_caps all = caps_all();

	for (unsigned int bit = 0; bit < 64; bit++) {
		if (!(ALL_TERMS & 1UL << bit))
			EXPECT(pt_config_check(PT | BRANCH | 1UL << bit, &all, false) == -EINVAL);
	}
	verdict("config: bits that are no term, the filters' and TraceEn's neighbours among them");
}

static void test_periods(void)
{
	struct pt_caps all = caps_all();

	/* caps_all(): 0x3f, 0x3ff and 0x249 */
	for (u64 n = 0; n < 16; n++) {
		EXPECT(pt_config_check(PSB_PERIOD(n), &all, false) == (n < 6 ? 0 : -EINVAL));
		EXPECT(pt_config_check(CYC | CYC_THRESH(n), &all, false) ==
		       (n < 10 ? 0 : -EINVAL));
		EXPECT(pt_config_check(MTC | MTC_PERIOD(n), &all, false) ==
		       (n % 3 || n > 9 ? -EINVAL : 0));
		EXPECT(pt_config_check(MTC_PERIOD(n), &all, false) ==
		       (n % 3 || n > 9 ? -EINVAL : 0));
	}
	verdict("config: each period");
}

static void test_combinations(void)
{
	struct pt_caps all = caps_all();

	EXPECT(pt_config_check(FUP_ON_PTW, &all, false) == -EINVAL);
	EXPECT(pt_config_check(BRANCH, &all, false) == -EINVAL);
	EXPECT(pt_config_check(0, &all, true) == 0);
	EXPECT(pt_config_check(PT, &all, true) == -EINVAL);
	EXPECT(pt_config_check(PT | BRANCH, &all, true) == 0);
	EXPECT(pt_config_check(BRANCH, &all, true) == -EINVAL);
	verdict("config: terms that make no sense together, and Broadwell");
}

static void test_ctl(void)
{
	u64 terms = CYC | PWR_EVT | FUP_ON_PTW | MTC | TSC | NORETCOMP | PTW | MTC_PERIOD(3) |
		    CYC_THRESH(2) | PSB_PERIOD(4) | EVENT | NOTNT;

	EXPECT(pt_config_ctl(0, true, true) == (BRANCH | USR | OS));
	EXPECT(pt_config_ctl(TSC, true, false) == (TSC | BRANCH | USR));
	EXPECT(pt_config_ctl(PT, false, true) == OS);
	EXPECT(pt_config_ctl(PT | BRANCH, false, false) == BRANCH);
	EXPECT(pt_config_ctl(PT | terms, true, false) == (terms | USR));
	verdict("config: the register");
}

void test_config(void)
{
	test_matrix();
	test_bits();
	test_periods();
	test_combinations();
	test_ctl();
}
