// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the tests of the BTS driver's logic and prints TAP.
 *
 *   logic [STEPS [SEED]]
 *
 * STEPS is how many steps each random setting takes; SEED is another sequence of
 * random numbers than the usual one.
 */
#include <stdarg.h>
#include <stdio.h>
#include <sys/time.h>

#include "check.h"

#define DEFAULT_STEPS	20000
#define DEFAULT_SEED	1
#define USAGE		"logic [STEPS [SEED]]"

static char fault[256];

/* No test takes that many seconds of processor time; a driver that hangs would. */
static long patience;

static void wind_up(void)
{
	struct itimerval timer = { .it_value.tv_sec = patience };

	setitimer(ITIMER_VIRTUAL, &timer, NULL);
}

void blame(const char *format, ...)
{
	va_list args;

	if (*fault)
		return;
	va_start(args, format);
	vsnprintf(fault, sizeof(fault), format, args);
	va_end(args);
}

bool is_blamed(void)
{
	return *fault;
}

void verdict(const char *format, ...)
{
	char name[256];
	va_list args;

	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	if (*fault)
		diag("%s", fault);
	point(!*fault, "%s", name);
	*fault = 0;
	wind_up();
}

int main(int argc, char **argv)
{
	u64 steps = argc > 1 ? number(argv[1], USAGE) : DEFAULT_STEPS;

	patience = 2 + steps / 5000;
	wind_up();
	/* Who reads this may not want to wait for the end. */
	setlinebuf(stdout);
	random_begin(argc > 2 ? number(argv[2], USAGE) : DEFAULT_SEED);
	test_window();
	test_driver(steps);
	return end_points();
}
