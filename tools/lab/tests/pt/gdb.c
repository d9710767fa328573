// SPDX-License-Identifier: GPL-2.0-only
/* What gdb records between its two breakpoints: calls that are known. */
#define noinline __attribute__((noinline))

static volatile int n;

noinline void three(void)
{
	n++;
}

noinline void two(void)
{
	three();
	three();
}

noinline void one(void)
{
	two();
	n += 2;
}

noinline void stop_here(void)
{
	n = 0;
}

int main(void)
{
	stop_here();
	for (int i = 0; i < 3; i++)
		one();
	stop_here();
	return 0;
}
