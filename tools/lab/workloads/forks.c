// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * forks.c - several address spaces: children that compute, children that execute this program
 * again, a pipe between two of them.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define NR_CHILDREN	4
#define NR_WORDS	500

static NOINLINE unsigned int gcd(unsigned int a, unsigned int b)
{
	return b ? gcd(b, a % b) : a;
}

static NOINLINE unsigned int totient(unsigned int n)
{
	unsigned int i, count = 0;

	for (i = 1; i <= n; i++)
		count += gcd(i, n) == 1;
	return count;
}

static void reap(pid_t pid, int want)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == want);
}

static void compute_in_children(void)
{
	pid_t pid[NR_CHILDREN];
	int i;

	for (i = 0; i < NR_CHILDREN; i++) {
		pid[i] = fork();
		CHECK(pid[i] >= 0);
		if (!pid[i])
			_exit(totient(101 + 2 * i) & 0x7f);
	}
	while (i--)
		reap(pid[i], totient(101 + 2 * i) & 0x7f);
}

static void execute_again(char *self)
{
	char *args[] = { self, "--child", "91", NULL };
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		execv("/proc/self/exe", args);
		_exit(127);
	}
	reap(pid, totient(91) & 0x7f);
}

static void through_pipe(void)
{
	uint32_t word, i, sum = 0;
	int fd[2];
	pid_t pid;

	CHECK(!pipe(fd));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		for (i = 0; i < NR_WORDS; i++)
			CHECK(write(fd[1], &i, sizeof(i)) == sizeof(i));
		_exit(0);
	}
	for (i = 0; i < NR_WORDS; i++) {
		CHECK(read(fd[0], &word, sizeof(word)) == sizeof(word));
		sum += word;
	}
	CHECK(sum == NR_WORDS * (NR_WORDS - 1) / 2);
	reap(pid, 0);
	close(fd[0]);
	close(fd[1]);
}

int main(int argc, char **argv)
{
	unsigned long scale, i;

	if (argc == 3 && !strcmp(argv[1], "--child"))
		return totient(atoi(argv[2])) & 0x7f;
	scale = workload_scale(argc, argv);
	for (i = 0; i < scale; i++) {
		compute_in_children();
		execute_again(argv[0]);
		through_pipe();
	}
	printf("forks ok\n");
	return 0;
}
