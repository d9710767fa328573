/* SPDX-License-Identifier: GPL-2.0-only */
/* A fixture for the tests of a file that need a PMU, and nothing else to be set up. */
FIXTURE(aux)
{
};

#define AUX_FIXTURE aux
#include "aux_variants.h"

FIXTURE_SETUP(aux)
{
	aux_use(variant->pmu);
	if (aux_missing())
		SKIP(return, "%s", aux_missing());
}

FIXTURE_TEARDOWN(aux)
{
}
