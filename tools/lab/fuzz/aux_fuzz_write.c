// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fuzzer of AUX areas: the system calls of a list of steps as a program in C that needs
 * nothing of the fuzzer.
 *
 * The steps are run, and what they call is written down with the values of this run: numbers
 * of files and addresses are the same in the program. The linker has calls of FUNCTION in
 * this program go to __wrap_FUNCTION, see AUX_FUZZ_WRAPPED of the Makefile.
 *
 * What a child calls, or the second thread, goes to a text of its own. In the text of its
 * parent is a mark with the number of that text.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aux_fuzz.h"
#include "aux_util.h"

#define MAX_TEXTS	512
#define CHILD_MARK	"@CHILD "
#define BESIDE_MARK	"@BESIDE "
#define MAX_HELD	16384
/* Mappings come there, one behind the other; those of steps where nothing else is. */
#define ARENA		(sizeof(long) > 4 ? 0x1000000000UL : 0x40000000UL)
#define ARENA_OF_STEPS	(ARENA + (256UL << 20))

/* How many there are, in all processes; NULL: nothing is written down. */
static atomic_uint *texts;
static int files[MAX_TEXTS];
static const char *target;
/* The text that the calling thread writes, or -1 */
static __thread int text = -1;
static atomic_ulong arena = ARENA;

/*
 * While something in the kernel is to fail that this thread makes it do, it makes no system
 * calls of its own: what it says is held back.
 */
static __thread char held[MAX_HELD];
static __thread size_t held_len;
static __thread bool holds;

static void say(const char *format, ...)
{
	va_list args;

	if (!texts || text < 0)
		return;
	va_start(args, format);
	if (holds)
		held_len += vsnprintf(held + held_len, MAX_HELD - held_len, format, args);
	else
		vdprintf(files[text], format, args);
	va_end(args);
	if (held_len >= MAX_HELD)
		held_len = MAX_HELD - 1;
}

static const char *path_of(int number)
{
	static __thread char path[4096];

	snprintf(path, sizeof(path), "%s.%d", target, number);
	return path;
}

/* Return: the number of a new text, or -1 if there are too many */
static int new_text(void)
{
	unsigned int number = atomic_fetch_add(texts, 1);

	return number < MAX_TEXTS ? (int)number : -1;
}

/* A machine that does not survive the steps leaves each line all the same. */
static void open_text(int number)
{
	if (number >= 0)
		files[number] = open(path_of(number), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND |
				     O_DSYNC | O_CLOEXEC, 0666);
}

bool fuzz_writes(void)
{
	return texts;
}

/* A step of the second thread is handed over, and is over. */
int fuzz_write_beside(void)
{
	int number;

	if (!texts || text < 0)
		return -1;
	number = new_text();
	open_text(number);
	say(BESIDE_MARK "%d\n", number);
	return number;
}

void fuzz_write_wait(void)
{
	say("\twait_for_beside();\n");
}

/* The calling thread writes to text NUMBER from now on; 0 is that of the first one. */
void fuzz_write_to(int number)
{
	text = texts ? number : -1;
}

void fuzz_write_note(const char *note, const char *value)
{
	say("\n\t/* %s%s */\n", note, value);
}

void fuzz_write_unpin(void)
{
	say("\tunpin();\n");
}

/* So many mappings of events there are before a program in C looks at them. */
void fuzz_write_maps(int count)
{
	say("\texpect_maps(%d);\n", count);
}

/* A program in C looks at the places that fuzz_traces_on() does. */
void fuzz_write_place(const char *function, int number, unsigned long at, size_t len)
{
	say("\t%s(%d, 0x%lx, 0x%zx);\n", function, number, at, len);
}

/* Before something is to fail, and with 0 when nothing is any more. */
void fuzz_write_fail(unsigned int nth)
{
	if (!nth && held_len) {
		holds = false;
		say("%.*s", (int)held_len, held);
	}
	held_len = 0;
	holds = false;
	say("\tfail_nth(%u);\n", nth);
	holds = nth;
}

void fuzz_new_arena(void)
{
	atomic_store(&arena, ARENA_OF_STEPS);
}

struct name {
	unsigned long value;
	const char *name;
};

#define NAME(value) { value, #value }

static const struct name requests[] = {
	NAME(PERF_EVENT_IOC_ENABLE), NAME(PERF_EVENT_IOC_DISABLE), NAME(PERF_EVENT_IOC_REFRESH),
	NAME(PERF_EVENT_IOC_RESET), NAME(PERF_EVENT_IOC_PERIOD), NAME(PERF_EVENT_IOC_SET_OUTPUT),
	NAME(PERF_EVENT_IOC_SET_FILTER), NAME(PERF_EVENT_IOC_ID), NAME(PERF_EVENT_IOC_SET_BPF),
	NAME(PERF_EVENT_IOC_PAUSE_OUTPUT), NAME(PERF_EVENT_IOC_QUERY_BPF),
	NAME(PERF_EVENT_IOC_MODIFY_ATTRIBUTES), { }
};

static const struct name protections[] = {
	NAME(PROT_READ | PROT_WRITE), NAME(PROT_READ), NAME(PROT_WRITE), NAME(PROT_NONE),
	NAME(PROT_READ | PROT_EXEC), { }
};

static const struct name map_flags[] = {
	NAME(MAP_SHARED), NAME(MAP_PRIVATE), NAME(MAP_PRIVATE | MAP_ANONYMOUS),
	NAME(MAP_SHARED | MAP_POPULATE), NAME(MAP_SHARED | MAP_LOCKED), { }
};

static const char *name_of(const struct name *names, unsigned long value)
{
	static __thread char numbers[4][32];
	static __thread unsigned int last;
	char *number = numbers[last++ % 4];

	for (; names->name; names++) {
		if (names->value == value)
			return names->name;
	}
	snprintf(number, sizeof(numbers[0]), "0x%lx", value);
	return number;
}

/* What differs among machines: the type of a PMU, and the config of a tracepoint. */
static const char *name_of_event(const struct perf_event_attr *attr)
{
	for (int i = 0; fuzz_pmus[i]; i++) {
		if (aux_type_of(fuzz_pmus[i]) == (int)attr->type)
			return fuzz_pmus[i];
	}
	return fuzz_tracepoint_of(attr) ?: "";
}

static const char *name_of_pid(pid_t pid)
{
	if (pid > 0 && pid == getpid())
		return "getpid()";
	if (pid > 0 && pid == getppid())
		return "getppid()";
	return pid < 0 ? "-1" : "0";
}

static const char *name_of_cgroup(int directory)
{
	static const char * const names[STRESS_CGROUPS + 1] = { "-1", "cgroups[0]", "cgroups[1]" };

	return names[stress_cgroup_of(directory) + 1];
}

/* Words of the attribute that are not 0 */
static void say_open(const struct perf_event_attr *attr, pid_t pid, int cpu, int group,
		     unsigned long flags, int fd)
{
	const __u64 *words = (const __u64 *)attr;
	char list[1024] = "";
	size_t len = 0;

	if (!texts || text < 0)
		return;
	for (size_t i = 0; i < sizeof(*attr) / sizeof(*words); i++) {
		if (words[i])
			len += snprintf(list + len, sizeof(list) - len, " [%zu] = 0x%llx,", i,
					(unsigned long long)words[i]);
	}
	say("\tput_at(%d, open_event(\"%s\", (__u64[24]) {%s }, %s, %d, %d, %lu));\n", fd,
	    name_of_event(attr), list,
	    flags & PERF_FLAG_PID_CGROUP ? name_of_cgroup(pid) : name_of_pid(pid), cpu, group,
	    flags);
}

static void say_program(const union bpf_attr *attr, int fd)
{
	const char *code = (void *)(unsigned long)attr->insns;
	unsigned long long insn;
	char list[512] = "";
	size_t len = 0;

	for (size_t i = 0; i < attr->insn_cnt; i++) {
		memcpy(&insn, code + i * sizeof(insn), sizeof(insn));
		len += snprintf(list + len, sizeof(list) - len, " 0x%llx,", insn);
	}
	say("\tput_at(%d, program(%u, %u, (__u64[]) {%s }));\n", fd, attr->prog_type,
	    attr->insn_cnt, list);
}

static void say_bpf(int command, const union bpf_attr *attr, int fd)
{
	switch (command) {
	case BPF_PROG_LOAD:
		say_program(attr, fd);
		break;
	case BPF_MAP_CREATE:
		say("\tput_at(%d, map_of_events());\n", fd);
		break;
	case BPF_MAP_UPDATE_ELEM:
		say("\tput_event(%u, %d, %d);\n", attr->map_fd, *(int *)(unsigned long)attr->key,
		    *(int *)(unsigned long)attr->value);
		break;
	case BPF_RAW_TRACEPOINT_OPEN:
		say("\tput_at(%d, hook_tracepoint(\"%s\", %u));\n", fd,
		    (const char *)(unsigned long)attr->raw_tracepoint.name,
		    attr->raw_tracepoint.prog_fd);
		break;
	}
}

long __real_syscall(long number, long a, long b, long c, long d, long e, long f);

long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	long ret = __real_syscall(number, a, b, c, d, e, f);
	int error = errno;

	if (number == SYS_perf_event_open)
		say_open((void *)a, b, c, d, e, ret);
	if (number == SYS_bpf)
		say_bpf(a, (void *)b, ret);
	errno = error;
	return ret;
}

void *__real_mmap(void *at, size_t len, int prot, int flags, int fd, long offset);
void *__real_mmap64(void *at, size_t len, int prot, int flags, int fd, int64_t offset);

static void *place_for(void *at, size_t len)
{
	return at ?: (void *)atomic_fetch_add(&arena, len + aux_page_size());
}

static void say_mmap(void *at, size_t len, int prot, int flags, int fd, long offset)
{
	say("\tmmap((void *)0x%lx, 0x%zx, %s, %s, %d, 0x%lx);\n", (unsigned long)at, len,
	    name_of(protections, prot), name_of(map_flags, flags), fd, offset);
}

void *__wrap_mmap(void *at, size_t len, int prot, int flags, int fd, long offset)
{
	at = place_for(at, len);
	say_mmap(at, len, prot, flags, fd, offset);
	return __real_mmap(at, len, prot, flags, fd, offset);
}

void *__wrap_mmap64(void *at, size_t len, int prot, int flags, int fd, int64_t offset)
{
	at = place_for(at, len);
	say_mmap(at, len, prot, flags, fd, offset);
	return __real_mmap64(at, len, prot, flags, fd, offset);
}

int __real_munmap(void *at, size_t len);

int __wrap_munmap(void *at, size_t len)
{
	say("\tmunmap((void *)0x%lx, 0x%zx);\n", (unsigned long)at, len);
	return __real_munmap(at, len);
}

void *__real_mremap(void *at, size_t len, size_t new_len, int flags, void *to);

void *__wrap_mremap(void *at, size_t len, size_t new_len, int flags, void *to)
{
	if (!(flags & MREMAP_FIXED))
		to = NULL;
	say("\tmremap((void *)0x%lx, 0x%zx, 0x%zx, %d, (void *)0x%lx);\n", (unsigned long)at, len,
	    new_len, flags, (unsigned long)to);
	return __real_mremap(at, len, new_len, flags, to);
}

int __real_mprotect(void *at, size_t len, int prot);

int __wrap_mprotect(void *at, size_t len, int prot)
{
	say("\tmprotect((void *)0x%lx, 0x%zx, %s);\n", (unsigned long)at, len,
	    name_of(protections, prot));
	return __real_mprotect(at, len, prot);
}

int __real_madvise(void *at, size_t len, int advice);

int __wrap_madvise(void *at, size_t len, int advice)
{
	say("\tmadvise((void *)0x%lx, 0x%zx, %d);\n", (unsigned long)at, len, advice);
	return __real_madvise(at, len, advice);
}

int __real_mlock(const void *at, size_t len);

int __wrap_mlock(const void *at, size_t len)
{
	say("\tmlock((void *)0x%lx, 0x%zx);\n", (unsigned long)at, len);
	return __real_mlock(at, len);
}

/* An ioctl whose argument is memory, of so many words */
static void say_ioctl(int fd, const char *name, unsigned long arg, size_t count)
{
	const unsigned long long *words = (const unsigned long long *)arg;
	char list[512] = "";
	size_t len = 0;

	if (!texts || text < 0)
		return;
	for (size_t i = 0; i < count; i++)
		len += snprintf(list + len, sizeof(list) - len, " 0x%llx,", words[i]);
	say("\tioctl(%d, %s, (__u64[%zu]) {%s });\n", fd, name, count, list);
}

int __real_ioctl(int fd, unsigned long request, unsigned long arg);

int __wrap_ioctl(int fd, unsigned long request, unsigned long arg)
{
	const char *name = name_of(requests, request);

	if (request == PERF_EVENT_IOC_SET_FILTER)
		say("\tioctl(%d, %s, \"%s\");\n", fd, name, (const char *)arg);
	else if (request == PERF_EVENT_IOC_PERIOD || request == PERF_EVENT_IOC_ID)
		say_ioctl(fd, name, arg, 1);
	else if (request == PERF_EVENT_IOC_QUERY_BPF)
		say_ioctl(fd, name, arg, 8);
	else if (request == PERF_EVENT_IOC_MODIFY_ATTRIBUTES)
		say_ioctl(fd, name, arg, sizeof(struct perf_event_attr) / sizeof(__u64));
	else
		say("\tioctl(%d, %s, 0x%lxUL);\n", fd, name, arg);
	return __real_ioctl(fd, request, arg);
}

int __real_close(int fd);

int __wrap_close(int fd)
{
	say("\tclose(%d);\n", fd);
	return __real_close(fd);
}

int __real_pipe2(int ends[2], int flags);

int __wrap_pipe2(int ends[2], int flags)
{
	int ret = __real_pipe2(ends, flags);

	say("\tpipe_at(%d, %d);\n", ends[0], ends[1]);
	return ret;
}

ssize_t __real_vmsplice(int fd, const struct iovec *range, size_t count, unsigned int flags);

ssize_t __wrap_vmsplice(int fd, const struct iovec *range, size_t count, unsigned int flags)
{
	say("\tvmsplice(%d, &(struct iovec) { (void *)0x%lx, 0x%zx }, 1, %u);\n", fd,
	    (unsigned long)range->iov_base, range->iov_len, flags);
	return __real_vmsplice(fd, range, count, flags);
}

int __real_fcntl(int fd, int command, long arg);

int __wrap_fcntl(int fd, int command, long arg)
{
	int ret = __real_fcntl(fd, command, arg);
	int error = errno;

	if (command == F_SETOWN)
		say("\tfcntl(%d, F_SETOWN, getpid());\n", fd);
	else if (command == F_DUPFD_CLOEXEC)
		say("\tput_at(%d, fcntl(%d, F_DUPFD_CLOEXEC, 0));\n", ret, fd);
	else
		say("\tfcntl(%d, %d, %ld);\n", fd, command, arg);
	errno = error;
	return ret;
}

int __wrap_fcntl64(int fd, int command, long arg)
{
	return __wrap_fcntl(fd, command, arg);
}

int __real_prctl(int option, long a, long b, long c, long d);

int __wrap_prctl(int option, long a, long b, long c, long d)
{
	say("\tprctl(%d);\n", option);
	return __real_prctl(option, a, b, c, d);
}

int __real_poll(struct pollfd *files, nfds_t count, int timeout);

int __wrap_poll(struct pollfd *files, nfds_t count, int timeout)
{
	say("\tpoll(&(struct pollfd) { .fd = %d, .events = POLLIN }, 1, %d);\n", files->fd,
	    timeout);
	return __real_poll(files, count, timeout);
}

ssize_t __real_read(int fd, void *data, size_t len);

ssize_t __wrap_read(int fd, void *data, size_t len)
{
	say("\tread(%d, (char[%zu]) { }, %zu);\n", fd, len, len);
	return __real_read(fd, data, len);
}

static int passed(const struct msghdr *message)
{
	struct cmsghdr *header = CMSG_FIRSTHDR(message);
	int fd = -1;

	if (header)
		memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	return fd;
}

ssize_t __real_sendmsg(int fd, const struct msghdr *message, int flags);

ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags)
{
	say("\tsend_file(%d);\n", passed(message));
	return __real_sendmsg(fd, message, flags);
}

ssize_t __real_recvmsg(int fd, struct msghdr *message, int flags);

ssize_t __wrap_recvmsg(int fd, struct msghdr *message, int flags)
{
	ssize_t ret = __real_recvmsg(fd, message, flags);
	int error = errno;

	if (ret >= 0)
		say("\tput_at(%d, receive_file());\n", passed(message));
	errno = error;
	return ret;
}

int __real_stress_put(struct stress_actor *actor, unsigned long at, __u64 value);

int __wrap_stress_put(struct stress_actor *actor, unsigned long at, __u64 value)
{
	say("\tput(0x%lx, 0x%llx);\n", at, (unsigned long long)value);
	return __real_stress_put(actor, at, value);
}

int __real_stress_touch(struct stress_actor *actor, unsigned long at, size_t len);

int __wrap_stress_touch(struct stress_actor *actor, unsigned long at, size_t len)
{
	say("\ttouch(0x%lx, 0x%zx);\n", at, len);
	return __real_stress_touch(actor, at, len);
}

int __real_aux_map_area(struct aux_event *event, size_t len, int prot);

int __wrap_aux_map_area(struct aux_event *event, size_t len, int prot)
{
	say("\tput(0x%lx, 0x%zx);\n", (unsigned long)&event->page->aux_offset, event->data_len);
	say("\tput(0x%lx, 0x%zx);\n", (unsigned long)&event->page->aux_size, len);
	return __real_aux_map_area(event, len, prot);
}

void __real_aux_work(unsigned int rounds);

void __wrap_aux_work(unsigned int rounds)
{
	say("\twork(%u);\n", rounds);
	__real_aux_work(rounds);
}

int __real_aux_pin(pid_t pid, int cpu);

int __wrap_aux_pin(pid_t pid, int cpu)
{
	say("\tpin(%d);\n", cpu);
	return __real_aux_pin(pid, cpu);
}

int __real_aux_switch_cpu_1(bool on);

int __wrap_aux_switch_cpu_1(bool on)
{
	say("\tswitch_cpu_1(\"%d\");\n", on);
	return __real_aux_switch_cpu_1(on);
}

int __real_stress_enter(int number);

int __wrap_stress_enter(int number)
{
	say("\tenter_cgroup(%d);\n", number);
	return __real_stress_enter(number);
}

int __real_usleep(useconds_t time);

int __wrap_usleep(useconds_t time)
{
	say("\tusleep(%u);\n", time);
	return __real_usleep(time);
}

pid_t __real_fork(void);

pid_t __wrap_fork(void)
{
	int number = texts && text >= 0 ? new_text() : -1;
	pid_t pid;

	if (number >= 0)
		say(CHILD_MARK "%d\n", number);
	pid = __real_fork();
	if (!pid) {
		/* Nothing fails in the child. */
		holds = false;
		held_len = 0;
		if (number >= 0)
			open_text(number);
		text = number;
	}
	return pid;
}

int __real_kill(pid_t pid, int signal);

int __wrap_kill(pid_t pid, int signal)
{
	say("\tkill(child, %d);\n", signal);
	return __real_kill(pid, signal);
}

pid_t __real_waitpid(pid_t pid, int *status, int options);

pid_t __wrap_waitpid(pid_t pid, int *status, int options)
{
	if (!(options & WNOHANG))
		say("\twaitpid(child, NULL, 0);\n");
	return __real_waitpid(pid, status, options);
}

void __real__exit(int status);

void __wrap__exit(int status)
{
	say("\t_exit(%d);\n", status);
	__real__exit(status);
}

int __real_setresuid(uid_t real, uid_t effective, uid_t saved);

int __wrap_setresuid(uid_t real, uid_t effective, uid_t saved)
{
	say("\tsetrlimit(RLIMIT_MEMLOCK, &(struct rlimit) { RLIM_INFINITY, RLIM_INFINITY });\n");
	say("\tsetresuid(%u, %u, %u);\n", real, effective, saved);
	return __real_setresuid(real, effective, saved);
}

int __real_execl(const char *path, const char *name, const char *arg, void *end);

int __wrap_execl(const char *path, const char *name, const char *arg, void *end)
{
	say("\texecl(\"%s\", \"%s\", \"%s\", NULL);\n", path, name, arg);
	return __real_execl(path, name, arg, end);
}

/* Texts of the second thread are functions; they come before what calls them. */
enum part { FUNCTIONS, CALLS };

static void write_text(FILE *file, int number, enum part part);

static void write_line(FILE *file, const char *line, enum part part)
{
	int number;

	if (sscanf(line, BESIDE_MARK "%d", &number) == 1) {
		if (part == CALLS) {
			fprintf(file, "\tbegin_beside(beside_%d);\n", number);
			return;
		}
		write_text(file, number, FUNCTIONS);
		fprintf(file, "\nstatic void *beside_%d(void *unused)\n{\n", number);
		write_text(file, number, CALLS);
		fputs("\treturn unused;\n}\n", file);
	} else if (sscanf(line, CHILD_MARK "%d", &number) == 1) {
		if (part == CALLS)
			fputs("\tchild = fork();\n\tif (!child) {\n", file);
		write_text(file, number, part);
		if (part == CALLS)
			fputs("\t_exit(0);\n\t}\n", file);
	} else if (part == CALLS) {
		fputs(line, file);
	}
}

static void write_text(FILE *file, int number, enum part part)
{
	FILE *from = fopen(path_of(number), "r");
	char *line = NULL;
	size_t room = 0;

	if (!from)
		return;
	/* The last line may be cut off, where the machine ended. */
	while (getline(&line, &room, from) > 0) {
		if (strchr(line, '\n'))
			write_line(file, line, part);
	}
	free(line);
	fclose(from);
}

/* A text of an earlier run, which a process of that may still write to, is not of this one. */
static void remove_texts(void)
{
	for (int i = 0; i < MAX_TEXTS; i++)
		unlink(path_of(i));
}

/*
 * Write down what steps call from now on, in files beside the target. What an earlier run has
 * called goes.
 *
 * Return: 0, or -1 if nothing can be written
 */
int fuzz_write_begin(const char *path)
{
	target = path;
	if (texts)
		close(files[0]);
	else
		texts = __real_mmap(NULL, sizeof(*texts), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (texts == MAP_FAILED)
		return -1;
	remove_texts();
	*texts = 0;
	open_text(new_text());
	return files[0] < 0 ? -1 : 0;
}

/* What the steps call by name, and the files with the number that each has on a machine */
static void write_sources(FILE *file)
{
	fputs("static struct {\n\tconst char *name, *path;\n\tint number;\n", file);
	fputs("} sources[] = {\n", file);
	for (int i = 0; fuzz_pmus[i]; i++)
		fprintf(file, "\t{ \"%s\", \"/sys/bus/event_source/devices/%s/type\" },\n",
			fuzz_pmus[i], fuzz_pmus[i]);
	for (int i = 0; i < FUZZ_TRACEPOINTS; i++)
		fprintf(file, "\t{ \"%s\", \"/sys/kernel/tracing/events/perf_aux/%s/id\" },\n",
			fuzz_tracepoints[i], fuzz_tracepoints[i]);
	fputs("\t{ }\n};\n\n", file);
}

/* Make the target of these files, which may be from another machine. */
int fuzz_join(const char *path, const char *finding)
{
	FILE *file = fopen(path, "w");

	target = path;
	if (!file)
		return -1;
	fprintf(file, "/*\n * %s\n *\n", finding);
	fputs(" * Found by aux_fuzz. Argument: how often it is tried.\n */\n", file);
	/* Of other findings the steps may leave an event that is not disabled, in another order. */
	fprintf(file, "static const int looks = %d;\n\n", !strcmp(finding, FUZZ_TRACES_ON));
	write_sources(file);
	fputs(fuzz_prologue, file);
	write_text(file, 0, FUNCTIONS);
	fputs("\nstatic void steps(void)\n{\n", file);
	write_text(file, 0, CALLS);
	fputs("}\n", file);
	fputs(fuzz_epilogue, file);
	remove_texts();
	return fclose(file);
}
