// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * syscalls.c - kernel entries and exits of each kind: SYSCALL with SYSRET, returns by IRET (from
 * signal handlers and after the registers were changed), INT 80h, and file work that makes
 * several hundred thousand kernel instructions for each unit of scale.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "check.h"

#define ROUNDS	50
#define BLOCK	4096

static volatile sig_atomic_t hits;

static void on_signal(int sig)
{
	(void)sig;
	hits++;
}

static void signal_round(void)
{
	int before = hits;

	CHECK(!raise(SIGUSR1));
	CHECK(hits == before + 1);
}

/* 20 is getpid in the 32-bit table, which INT 80h uses. */
static void int80_round(void)
{
#ifdef __x86_64__
	long result;

	asm volatile("int $0x80" : "=a" (result) : "a" (20L)
		     : "memory", "r8", "r9", "r10", "r11");
	CHECK(result == getpid() || result == -ENOSYS);
#endif
}

static void file_round(int fd)
{
	static char out[BLOCK], in[BLOCK];
	struct stat st;
	int i;

	for (i = 0; i < BLOCK; i++)
		out[i] = i * 7;
	CHECK(pwrite(fd, out, BLOCK, 0) == BLOCK);
	CHECK(pread(fd, in, BLOCK, 0) == BLOCK);
	CHECK(!memcmp(in, out, BLOCK));
	CHECK(!fstat(fd, &st) && st.st_size == BLOCK);
	CHECK(open("/nonexistent/name", O_RDONLY) == -1 && errno == ENOENT);
}

static void memory_round(void)
{
	size_t page = getpagesize();
	char *p = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	p[0] = p[page] = p[2 * page] = 1;
	CHECK(!mprotect(p + page, page, PROT_READ));
	CHECK(p[page] == 1);
	CHECK(!munmap(p, 4 * page));
}

int main(int argc, char **argv)
{
	unsigned long scale = workload_scale(argc, argv), i;
	int fd = memfd_create("syscalls", MFD_CLOEXEC);
	struct timeval tv;

	CHECK(fd >= 0);
	CHECK(signal(SIGUSR1, on_signal) != SIG_ERR);
	for (i = 0; i < scale * ROUNDS; i++) {
		signal_round();
		int80_round();
		file_round(fd);
		memory_round();
		CHECK(!gettimeofday(&tv, NULL) && tv.tv_sec);
		CHECK(syscall(SYS_getppid) == getppid());
		sched_yield();
	}
	printf("syscalls ok\n");
	return 0;
}
