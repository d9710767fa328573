// SPDX-License-Identifier: GPL-2.0-only
/*
 * File systems of the guest: the host's root over 9p, read-only, under an
 * overlay in memory; the kernel's own file systems; the shared directories.
 */
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest.h"

#define P9_OPTIONS	"trans=virtio,version=9p2000.L,msize=512000,cache="

static void must_mount(const char *what, const char *where, const char *type,
		       unsigned long flags, const char *options)
{
	char message[256];

	if (!mount(what, where, type, flags, options))
		return;
	snprintf(message, sizeof(message), "cannot mount %s on %s", type, where);
	fatal(message);
}

/* What init itself needs in order to find its ports. */
void mount_early(void)
{
	mkdir("/dev", 0755);
	mkdir("/sys", 0755);
	mkdir("/proc", 0755);
	mkdir("/lab", 0755);
	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	mount("proc", "/proc", "proc", 0, NULL);
}

/*
 * The command may find a directory of the host's root that is missing here,
 * so failures below the root are not fatal.
 */
static void mount_kernel_fs(void)
{
	mkdir("dev/pts", 0755);
	mkdir("dev/shm", 01777);
	mkdir("dev/mqueue", 01777);
	mount("devpts", "dev/pts", "devpts", 0, "mode=0620,gid=5,ptmxmode=0666");
	mount("tmpfs", "dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777");
	mount("mqueue", "dev/mqueue", "mqueue", 0, NULL);
	mount("tmpfs", "run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755");
	mkdir("run/lock", 01777);
	mkdir("run/user", 0755);
	mount("debugfs", "sys/kernel/debug", "debugfs", 0, "mode=0755");
	mount("tracefs", "sys/kernel/tracing", "tracefs", 0, NULL);
	mount("cgroup2", "sys/fs/cgroup", "cgroup2", 0, NULL);
	symlink("/proc/self/fd", "dev/fd");
	symlink("/proc/self/fd/0", "dev/stdin");
	symlink("/proc/self/fd/1", "dev/stdout");
	symlink("/proc/self/fd/2", "dev/stderr");
}

/* A share may lie below a file system that starts out empty, such as /run. */
static void make_path(const char *path)
{
	char part[4096];
	size_t i;

	for (i = 0; path[i] && i < sizeof(part) - 1; i++) {
		if (path[i] == '/' && i) {
			part[i] = '\0';
			mkdir(part, 0755);
		}
		part[i] = path[i];
	}
	part[i] = '\0';
	mkdir(part, 0755);
}

static void mount_shares(const struct spec *spec)
{
	int i;

	/*
	 * "mmap" caches no data across opens, so that both sides see what
	 * the other one wrote, and still allows programs to run from there.
	 */
	for (i = 0; i < spec->nr_shares; i++) {
		make_path(spec->share[i] + 1);
		must_mount(spec->tag[i], spec->share[i] + 1, "9p", 0, P9_OPTIONS "mmap");
	}
}

void mount_root(const struct spec *spec)
{
	must_mount("tmpfs", "/lab", "tmpfs", 0, "mode=0755");
	mkdir("/lab/host", 0755);
	mkdir("/lab/upper", 0755);
	mkdir("/lab/work", 0755);
	mkdir("/lab/root", 0755);
	/* The host's files do not change during a run: cache them. */
	must_mount("lab.root", "/lab/host", "9p", MS_RDONLY, P9_OPTIONS "loose");
	must_mount("overlay", "/lab/root", "overlay", 0,
		   "lowerdir=/lab/host,upperdir=/lab/upper,workdir=/lab/work");

	if (chdir("/lab/root"))
		fatal("new root");
	must_mount("/dev", "dev", "", MS_MOVE, NULL);
	must_mount("/sys", "sys", "", MS_MOVE, NULL);
	must_mount("/proc", "proc", "", MS_MOVE, NULL);
	mount_kernel_fs();
	mount_shares(spec);

	must_mount(".", "/", "", MS_MOVE, NULL);
	if (chroot(".") || chdir("/"))
		fatal("change of root");
}

/* Data that was written to a share is on the host before the power goes. */
void unmount_shares(const struct spec *spec)
{
	int i;

	sync();
	for (i = spec->nr_shares - 1; i >= 0; i--)
		umount2(spec->share[i], MNT_DETACH);
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	write_all(fd, text, strlen(text));
	close(fd);
}

static void loopback_up(void)
{
	struct ifreq req = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	if (!ioctl(fd, SIOCGIFFLAGS, &req)) {
		req.ifr_flags |= IFF_UP;
		ioctl(fd, SIOCSIFFLAGS, &req);
	}
	close(fd);
}

void tune_guest(void)
{
	sethostname("lab", 3);
	loopback_up();
	/*
	 * As systemd does. Until a controller was enabled here, new groups lack those that
	 * each group has by itself, and events of these groups fail with ENOENT.
	 */
	write_file("/sys/fs/cgroup/cgroup.subtree_control", "+cpu");
}
