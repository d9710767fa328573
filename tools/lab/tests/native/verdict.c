// SPDX-License-Identifier: GPL-2.0-only
#include "verdict.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/time.h>

#include "points.h"

static char fault[256];

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

void verdicts_begin(long seconds)
{
	patience = seconds;
	wind_up();
}
