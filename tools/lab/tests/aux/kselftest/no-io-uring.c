// SPDX-License-Identifier: GPL-2.0-only
/* Runs a program for which io_uring_setup(2) is EPERM, as in most containers. */
#include <err.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof(code) / sizeof(*code), .filter = code };

	if (argc < 2)
		errx(2, "usage: no-io-uring PROGRAM [ARGUMENT...]");
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		err(2, "seccomp");
	execv(argv[1], argv + 1);
	err(2, "%s", argv[1]);
}
