// SPDX-License-Identifier: GPL-2.0-only
/* The fuzzer of AUX areas: the PMUs that it takes, and what is mapped of their events. */
#include <stdio.h>
#include <string.h>

#include "aux_fuzz.h"

const char *const fuzz_pmus[FUZZ_PMUS + 1] = {
	"intel_pt", "aux_synth", "intel_bts", "aux_synth_large", "aux_synth_no_sg", NULL
};

/* Print each mapping of an event. Return: their number */
int fuzz_count_maps(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[256];
	int count = 0;

	while (maps && fgets(line, sizeof(line), maps)) {
		if (!strstr(line, "[perf_event]"))
			continue;
		printf("mapped: %s", line);
		count++;
	}
	fflush(stdout);
	if (maps)
		fclose(maps);
	return count;
}
