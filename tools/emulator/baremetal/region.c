// SPDX-License-Identifier: GPL-2.0-only
/* A poisoned window with holes, table entries, and the bulk sequence. */
#include "region.h"

#define MAX_ALLOWED	32
#define CHUNK		1024
#define POISON_WORD	(OUTPUT_POISON * 0x0101010101010101ul)

static struct region allowed[MAX_ALLOWED];
static u32 nr_allowed;

void window_init(void)
{
	pt_reset();
	memset((void *)WINDOW, OUTPUT_POISON, WINDOW_SIZE);
	nr_allowed = 0;
}

void window_allow(u64 base, u64 size)
{
	if (nr_allowed == MAX_ALLOWED)
		bail_out("too many regions in one test");
	allowed[nr_allowed++] = (struct region) { base, size };
}

void topa_write(u64 table, u32 index, u64 entry)
{
	u64 *slot = (u64 *)table + index;

	*slot = entry;
	window_allow((u64)slot, sizeof(*slot));
}

static bool is_allowed(u64 addr)
{
	for (u32 i = 0; i < nr_allowed; i++)
		if (addr - allowed[i].base < allowed[i].size)
			return true;
	return false;
}

bool all_poison(u64 base, u64 size)
{
	for (u64 a = base; a < base + size; a++)
		if (*(u8 *)a != OUTPUT_POISON)
			return false;
	return true;
}

/* Most of the window is poison: look at much of it at a time. */
static bool chunk_poison(const u64 *p)
{
	u64 diff = 0;

	for (u32 i = 0; i < CHUNK / 8; i += 4)
		diff |= (p[i] ^ POISON_WORD) | (p[i + 1] ^ POISON_WORD) |
			(p[i + 2] ^ POISON_WORD) | (p[i + 3] ^ POISON_WORD);
	return !diff;
}

bool window_untouched(void)
{
	for (u64 a = WINDOW; a < WINDOW + WINDOW_SIZE; a += 8) {
		if (!(a % CHUNK) && chunk_poison((u64 *)a)) {
			a += CHUNK - 8;
			continue;
		}
		if (*(u64 *)a == POISON_WORD)
			continue;
		for (u64 b = a; b < a + 8; b++) {
			if (*(u8 *)b != OUTPUT_POISON && !is_allowed(b)) {
				diag("memory changed at 0x%lx: 0x%x", b, *(u8 *)b);
				return false;
			}
		}
	}
	return true;
}

void bulk_run(u64 rounds, u64 ctl)
{
	snip_arg[0] = rounds;
	snip_ctl_on = ctl;
	snip_ctl_off = ctl & ~CTL_TRACEEN;
	snip_bulk();
}

u64 bulk_reference(u64 rounds, u64 ctl)
{
	pt_output_setup();
	bulk_run(rounds, (ctl & ~CTL_TOPA) | pt_output_ctl());
	return pt_output_bytes();
}
