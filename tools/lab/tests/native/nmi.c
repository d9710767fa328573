// SPDX-License-Identifier: GPL-2.0-only
/* Where an NMI may come, and that none comes in another one. */
#include "nmi.h"

#include <linux/compiler.h>

static void (*tick)(void);
static void (*come)(unsigned int place);
static unsigned int places;
static bool inside;

void nmi_arm(void (*at_all)(void), void (*nmi)(unsigned int place))
{
	tick = at_all;
	come = nmi;
	places = 0;
}

unsigned int nmi_disarm(void)
{
	tick = 0;
	come = 0;
	return places;
}

bool in_nmi(void)
{
	return inside;
}

void nmi_run(void (*handler)(void))
{
	inside = true;
	handler();
	inside = false;
}

void nmi_point(void)
{
	if (tick)
		tick();
	if (inside || !come)
		return;
	come(++places);
}
