// SPDX-License-Identifier: GPL-2.0
/*
 * timeline-json.c - the Chrome Trace Event file that is written
 *
 * Names of symbols may have any bytes, but JSON is UTF-8: what is not, becomes U+FFFD.
 */
#include "timeline-json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define REMEDY	"name another file by --dlarg FILE"

static struct {
	int fd;
	const char *path;
	size_t len;
	/* "00", "01" and so on */
	char pairs[200];
} out = { .fd = -1 };

static char buf[4 * TL_EVENT_MAX];

static void flush(void)
{
	size_t done = 0;
	ssize_t n;

	while (done < out.len) {
		n = write(out.fd, buf + done, out.len - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			tl_die(REMEDY, "cannot write %s (%s)", out.path, strerror(errno));
		done += n;
	}
	out.len = 0;
}

char *tl_json_reserve(void)
{
	if (sizeof(buf) - out.len < TL_EVENT_MAX)
		flush();
	return buf + out.len;
}

void tl_json_commit(char *end)
{
	out.len = end - buf;
}

/* Digits, two at a time, into the end of a buffer. */
static char *digits(char *end, u64 number)
{
	while (number >= 10) {
		end -= 2;
		memcpy(end, out.pairs + 2 * (number % 100), 2);
		number /= 100;
	}
	/* A single digit, or the zero that is all there is. */
	if (number || !*end)
		*--end = '0' + number;
	return end;
}

char *tl_put_number(char *p, u64 number)
{
	char text[24] = "", *end = text + sizeof(text) - 1, *first = digits(end, number);

	return tl_put_bytes(p, first, end - first);
}

char *tl_put_time(char *p, u64 ns)
{
	u32 rest = ns % 1000;

	p = tl_put_number(p, ns / 1000);
	*p++ = '.';
	*p++ = '0' + rest / 100;
	*p++ = '0' + rest / 10 % 10;
	*p++ = '0' + rest % 10;
	return p;
}

char *tl_put_ratio(char *p, u64 n, u64 d)
{
	u32 rest = n % d * 100 / d;

	p = tl_put_number(p, n / d);
	*p++ = '.';
	*p++ = '0' + rest / 10;
	*p++ = '0' + rest % 10;
	return p;
}

/* The length of the UTF-8 sequence at p; 0 if it is none. */
static int sequence(const u8 *p)
{
	int len = *p < 0x80 ? 1 : *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf5 ? 4 : 0;
	int i;

	for (i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	}
	/* Longer than needed, a surrogate, or beyond the last code point. */
	if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) ||
	    (*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] > 0x8f))
		return 0;
	return len;
}

char *tl_put_escaped(char *p, const char *text)
{
	const u8 *in = (const u8 *)text;
	int len;

	for (; *in; in += len ? len : 1) {
		len = sequence(in);
		if (!len)
			p = tl_put(p, "\\ufffd");
		else if (*in == '"' || *in == '\\')
			p += sprintf(p, "\\%c", *in);
		else if (*in < 0x20 || *in == 0x7f)
			p += sprintf(p, "\\u%04x", *in);
		else
			p = tl_put_bytes(p, (const char *)in, len);
	}
	return p;
}

char *tl_put_string(char *p, const char *text)
{
	p = tl_put(p, "\"");
	p = tl_put_escaped(p, text);
	return tl_put(p, "\"");
}

void tl_json_events(void)
{
	if (out.fd < 0)
		out.fd = open(out.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (out.fd < 0)
		tl_die(REMEDY, "cannot write %s (%s)", out.path, strerror(errno));
	tl_json_commit(tl_put(tl_json_reserve(), "{\"displayTimeUnit\":\"ns\",\"traceEvents\":["));
}

void tl_json_other(void)
{
	tl_json_commit(tl_put(tl_json_reserve(), "\n],\n\"otherData\":{"));
}

/* perf's own output goes to standard error then, so that it does not mix with the file. */
static int take_stdout(void)
{
	int fd;

	fflush(stdout);
	fd = dup(STDOUT_FILENO);
	if (fd >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

int tl_json_init(const char *path)
{
	bool standard = !strcmp(path, "-");
	int i;

	for (i = 0; i < 100; i++) {
		out.pairs[2 * i] = '0' + i / 10;
		out.pairs[2 * i + 1] = '0' + i % 10;
	}
	out.path = standard ? "standard output" : path;
	if (!standard)
		return 0;
	out.fd = take_stdout();
	if (out.fd >= 0)
		return 0;
	tl_say(REMEDY, "cannot write %s (%s)", out.path, strerror(errno));
	return -1;
}

void tl_json_close(void)
{
	tl_json_commit(tl_put(tl_json_reserve(), "\n}}\n"));
	flush();
	if (close(out.fd))
		tl_die(REMEDY, "cannot write %s (%s)", out.path, strerror(errno));
	out.fd = -1;
}
