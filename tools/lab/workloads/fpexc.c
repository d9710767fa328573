// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fpexc.c - unmasked x87 and SSE exceptions, taken as SIGFPE and left by siglongjmp.
 *
 * QEMU's TCG raises the x87 ones only, so an SSE exception that does not come is reported, not
 * failed: what this program is for is the control flow of those that come.
 */
#define _GNU_SOURCE
#include <fenv.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

#include "check.h"

#define ROUNDS	20

static sigjmp_buf back;
static volatile int code;
static volatile unsigned int missed;

static void on_fpe(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	code = info->si_code;
	siglongjmp(back, 1);
}

static NOINLINE void sse_divide(double a, double b)
{
	volatile double x = a, y = b, z;

	z = x / y;
	(void)z;
}

/* An x87 exception is only raised by the next x87 instruction that waits. */
static NOINLINE void x87_divide(void)
{
	asm volatile("fld1\n\tfldz\n\tfdivrp %%st, %%st(1)\n\tnop\n\tfwait\n\tfstp %%st(0)"
		     : : : "st", "st(1)", "memory");
}

static NOINLINE void x87_invalid(void)
{
	asm volatile("fldz\n\tfldz\n\tfdivrp %%st, %%st(1)\n\tfwait\n\tfstp %%st(0)"
		     : : : "st", "st(1)", "memory");
}

static void expect(int want, int which, bool must_come)
{
	fenv_t env;

	code = 0;
	if (!sigsetjmp(back, 1)) {
		CHECK(!feclearexcept(FE_ALL_EXCEPT));
		CHECK(feenableexcept(FE_DIVBYZERO | FE_INVALID) != -1);
		switch (which) {
		case 0: sse_divide(1, 0); break;
		case 1: x87_divide(); break;
		case 2: x87_invalid(); break;
		case 3: sse_divide(0, 0); break;
		}
	}
	CHECK(code == want || (!code && !must_come));
	missed += !code;
	CHECK(!feholdexcept(&env));
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_sigaction = on_fpe, .sa_flags = SA_SIGINFO };
	unsigned long scale = workload_scale(argc, argv), i;

	CHECK(!sigaction(SIGFPE, &sa, NULL));
	for (i = 0; i < scale * ROUNDS; i++) {
		expect(FPE_FLTDIV, 0, false);
		expect(FPE_FLTDIV, 1, true);
		expect(FPE_FLTINV, 2, true);
		expect(FPE_FLTINV, 3, false);
	}
	printf("fpexc ok (%u SSE exceptions did not come)\n", missed);
	return 0;
}
