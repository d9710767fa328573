// SPDX-License-Identifier: GPL-2.0-only
/* mlock.c against a model: the allowance of each user, pinned memory of each mm. */
#include "check.h"

#define BUFFERS	16

static struct user_struct users[2];
static struct mm_struct mms[3];
static struct perf_mlock charges[BUFFERS];
static unsigned long gifts[2], pinned[3];

static bool agrees(void)
{
	long user_refs[2] = { }, mm_refs[3] = { };

	for (int i = 0; i < BUFFERS; i++) {
		if (!charges[i].user)
			continue;
		user_refs[charges[i].user - users]++;
		mm_refs[charges[i].mm - mms]++;
	}
	for (int i = 0; i < 2; i++)
		if (users[i].perf_mlock.counter != gifts[i] || users[i].refs != user_refs[i])
			return false;
	for (int i = 0; i < 3; i++)
		if (mms[i].pinned_vm.counter != pinned[i] || mms[i].refs != mm_refs[i])
			return false;
	return true;
}

/* What a charge should come to, and whether CAP_IPC_LOCK matters. */
static bool charge_agrees(int at, unsigned long pages)
{
	unsigned long allowance = (sysctl_perf_event_mlock / 4) * 2UL;
	int user = world.task.user - users, mm = world.task.mm - mms, ret;
	unsigned long gift = gifts[user] >= allowance ? 0 :
			     pages < allowance - gifts[user] ? pages : allowance - gifts[user];
	bool fits = pinned[mm] + pages - gift <= world.memlock >> PAGE_SHIFT;
	bool asks = !fits && world.paranoid;

	world.asked_capable = 0;
	ret = perf_mlock_charge(&charges[at], pages);
	if (world.asked_capable != asks)
		return false;
	if (!fits && world.paranoid && !world.capable)
		return ret == -EPERM && !charges[at].user && !charges[at].mm && agrees();
	gifts[user] += gift;
	pinned[mm] += pages - gift;
	return !ret && agrees();
}

static bool uncharge_agrees(int at)
{
	struct perf_mlock was = charges[at];

	/* Whoever unmaps last: another user and mm than who paid. */
	world.task.user = &users[random_below(2)];
	world.task.mm = &mms[random_below(3)];
	if (was.user) {
		gifts[was.user - users] -= was.gift;
		pinned[was.mm - mms] -= was.pinned;
	}
	perf_mlock_uncharge(&charges[at]);
	return !charges[at].user && agrees();
}

static bool random_charges(unsigned long steps)
{
	for (unsigned long i = 0; i < steps; i++) {
		int at = random_below(BUFFERS);

		world.task.user = &users[random_below(2)];
		world.task.mm = &mms[random_below(3)];
		world.memlock = random_below(200) << PAGE_SHIFT;
		world.paranoid = random_below(4);
		world.capable = !random_below(3);
		sysctl_perf_event_mlock = random_below(8) ? 516 : random_below(1000);
		if (charges[at].user || !random_below(8) ? !uncharge_agrees(at) :
						!charge_agrees(at, random_up_to(300)))
			return false;
	}
	return true;
}

void test_mlock(unsigned long steps)
{
	bool good;

	world_begin();
	good = random_charges(steps);
	for (int at = 0; at < BUFFERS; at++)
		good = good && uncharge_agrees(at);
	sysctl_perf_event_mlock = 516;
	point(good, "mlock: charges, refusals and what is given back agree with the model");
}
