// SPDX-License-Identifier: GPL-2.0-only
/*
 * First process of a lab guest: order of events from kernel to power-off.
 *
 * It sits alone in the initramfs, statically linked, beside a file "/spec"
 * that says what to run (spec.c). It mounts the host's root (mounts.c), starts
 * the command and copies its input and output (relay.c), and reports over the
 * control port what became of it (report.c). A guest that ends in any other way
 * has reported nothing, and the host takes that as a failure.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "guest.h"

static void report_status(int status)
{
	char line[32];

	if (WIFSIGNALED(status))
		snprintf(line, sizeof(line), "signal %d\n", WTERMSIG(status));
	else
		snprintf(line, sizeof(line), "exit %d\n", WEXITSTATUS(status));
	report(line);
}

int main(void)
{
	struct spec spec;
	struct job job;
	int control_fd;

	signal(SIGPIPE, SIG_IGN);
	mount_early();
	control_fd = open_port("lab.ctl");
	if (control_fd < 0)
		fatal("control port");
	report_to(control_fd);
	report("boot\n");

	if (spec_read(&spec, "/spec"))
		fatal("cannot read the specification of the run");
	mount_root(&spec);
	tune_guest();

	job_start(&job, &spec);
	report("start\n");
	report_status(relay(&job, control_fd));

	kill(-1, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	keep_coverage(&spec);
	unmount_shares(&spec);
	report("off\n");
	power_off();
}
