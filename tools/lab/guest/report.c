// SPDX-License-Identifier: GPL-2.0-only
/*
 * What init tells the host over the control port, and its end.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/reboot.h>
#include <unistd.h>

#include "guest.h"

static int control_fd = -1;

int write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EAGAIN) {
			struct pollfd pfd = { .fd = fd, .events = POLLOUT };

			poll(&pfd, 1, -1);
			continue;
		}
		if (n < 0 && errno != EINTR)
			return -1;
		if (n > 0) {
			p += n;
			len -= n;
		}
	}
	return 0;
}

void report_to(int fd)
{
	control_fd = fd;
}

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
