// SPDX-License-Identifier: GPL-2.0-only
/*
 * Branches of all kinds by a generator's numbers: conditional ones, calls
 * deeper than the model's return stack, indirect ones near and far apart,
 * interrupts, changes of CR3, PTWRITE.
 */
#include "pattern.h"

#define NOINLINE	__attribute__((noinline, noclone))
#define RANGED		NOINLINE __attribute__((section("ranged")))

#define SOFT_VECTOR	0x70
/* More than the 64 return addresses that the model remembers. */
#define MAX_DEPTH	80
#define BITS_TESTED	24

typedef u64 leaf_fn(u64);

extern const u8 pml4[], pml4_other[];
static u64 state = 1;
static bool have_ptwrite;

asm(".text\n"
    "pattern_iret: iretq\n");
extern const u8 pattern_iret[];

static u64 random_next(void)
{
	state = state * 6364136223846793005ul + 1442695040888963407ul;
	return state >> 32;
}

static RANGED u64 leaf_bits(u64 x)
{
	u64 sum = 0;

	for (u32 i = 0; i < BITS_TESTED; i++)
		if (x >> i & 1)
			sum += i;
	return sum;
}

static RANGED u64 leaf_divide(u64 x)
{
	return x % 7 ? x / 7 : x + 1;
}

static RANGED u64 deeper(u64 depth)
{
	return depth ? 1 + deeper(depth - 1) : 0;
}

static NOINLINE u64 leaf_odd(u64 x)
{
	return x & 1 ? x * 3 + 1 : x / 2;
}

static NOINLINE u64 leaf_interrupt(u64 x)
{
	asm volatile("int %0" :: "i" (SOFT_VECTOR) : "memory");
	return x;
}

static NOINLINE u64 leaf_cr3(u64 x)
{
	write_cr3((u64)(x & 1 ? pml4_other : pml4));
	return x + 1;
}

static NOINLINE u64 leaf_ptwrite(u64 x)
{
	if (have_ptwrite)
		asm volatile("ptwrite %0" :: "r" (x));
	return x + 2;
}

static leaf_fn *const leaves[] = {
	leaf_bits, leaf_divide, leaf_odd, leaf_bits, leaf_interrupt, leaf_cr3, leaf_ptwrite,
	leaf_odd,
};

/* Where the same code appears: the distance decides how an IP is compressed. */
static const u64 aliases[] = { 0, 0, ALIAS_4G, ALIAS_LOW_TOP, ALIAS_KERNEL };

void pattern_init(bool ptwrite)
{
	have_ptwrite = ptwrite;
	gate_set(SOFT_VECTOR, pattern_iret, 0);
}

u64 pattern_round(void)
{
	u64 r = random_next();
	leaf_fn *leaf = leaves[r % ARRAY_SIZE(leaves)];
	u64 x = random_next();

	switch (r >> 8 & 7) {
	case 0:
		return deeper(r % MAX_DEPTH);
	case 1:
		/* Nothing but a table of addresses is at stake: no leaf calls on. */
		leaf = (leaf_fn *)((u64)leaf + aliases[x % ARRAY_SIZE(aliases)]);
		break;
	case 2:
		return leaf_bits(x) + leaf_divide(x);
	default:
		break;
	}
	return leaf(x);
}
