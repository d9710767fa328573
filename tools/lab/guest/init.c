// SPDX-License-Identifier: GPL-2.0-only
/*
 * First process of a lab guest: order of events from kernel to power-off.
 *
 * It sits alone in the initramfs, statically linked, beside a file "/spec"
 * that says what to run (spec.c). It mounts the host's root (mounts.c), starts
 * the command and copies its input and output (relay.c), and reports over the
 * control port what became of it. A guest that ends in any other way has
 * reported nothing, and the host takes that as a failure.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"

static int control_fd = -1;

void report(const char *line)
{
	if (control_fd >= 0)
		write_all(control_fd, line, strlen(line));
}

/* No way on: say why on the console and in the report, then power off. */
void fatal(const char *what)
{
	char line[512];

	snprintf(line, sizeof(line), "fail %s: %s\n", what, strerror(errno));
	fprintf(stderr, "lab-init: %s", line);
	report(line);
	power_off();
}

void power_off(void)
{
	sync();
	/*
	 * Without ACPI there is nothing that cuts the power. A reset ends
	 * QEMU just as well, as it runs with -no-reboot.
	 */
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

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

	signal(SIGPIPE, SIG_IGN);
	mount_early();
	control_fd = open_port("lab.ctl");
	if (control_fd < 0)
		fatal("control port");
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
