// SPDX-License-Identifier: GPL-2.0-only
/* Output (debug port, else the first serial port), TAP points, the command line. */
#include <stdarg.h>
#include "tap.h"

#define DEBUGCON_PORT		0xe9
#define COM1_DATA		0x3f8
#define COM1_LSR		0x3fd
#define COM1_LSR_THRE		BIT(5)
#define EXIT_PORT		0xf4
/* isa-debug-exit ends QEMU with status (value << 1) | 1. */
#define EXIT_COMPLETE		0x10
#define EXIT_BAIL_OUT		0x20

static bool have_debugcon;
static u32 points;

void console_init(void)
{
	have_debugcon = inb(DEBUGCON_PORT) == DEBUGCON_PORT;
}

static void putchar(char c)
{
	if (have_debugcon) {
		outb(DEBUGCON_PORT, c);
		return;
	}
	while (!(inb(COM1_LSR) & COM1_LSR_THRE))
		;
	outb(COM1_DATA, c);
}

static void print_num(u64 v, u32 base, bool neg, int width, char pad)
{
	char buf[24];
	int n = 0;

	do {
		buf[n++] = "0123456789abcdef"[v % base];
		v /= base;
	} while (v);
	if (neg)
		buf[n++] = '-';
	while (n < width && n < (int)sizeof(buf))
		buf[n++] = pad;
	while (n)
		putchar(buf[--n]);
}

static void print_str(const char *s)
{
	while (*s)
		putchar(*s++);
}

/* The subset of printf that is used here: %s %c %d %u %x %%, l, width, 0. */
static void vprint(const char *fmt, va_list ap)
{
	for (; *fmt; fmt++) {
		bool is_long = false;
		char pad = ' ';
		int width = 0;
		long v;

		if (*fmt != '%') {
			putchar(*fmt);
			continue;
		}
		if (*++fmt == '0')
			pad = *fmt++;
		while (*fmt >= '0' && *fmt <= '9')
			width = width * 10 + *fmt++ - '0';
		for (; *fmt == 'l'; fmt++)
			is_long = true;
		switch (*fmt) {
		case 's':
			print_str(va_arg(ap, const char *));
			break;
		case 'c':
			putchar(va_arg(ap, int));
			break;
		case 'd':
			v = is_long ? va_arg(ap, long) : va_arg(ap, int);
			print_num(v < 0 ? -v : v, 10, v < 0, width, pad);
			break;
		case 'u':
		case 'x':
			v = is_long ? va_arg(ap, long) : va_arg(ap, u32);
			print_num(v, *fmt == 'x' ? 16 : 10, false, width, pad);
			break;
		default:
			putchar(*fmt);
		}
	}
}

void print(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vprint(fmt, ap);
	va_end(ap);
}

static void vpoint(bool pass, const char *fmt, va_list ap)
{
	print("%sok %u - ", pass ? "" : "not ", ++points);
	vprint(fmt, ap);
}

bool ok(bool pass, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vpoint(pass, fmt, ap);
	va_end(ap);
	print("\n");
	return pass;
}

void skip(const char *why, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vpoint(true, fmt, ap);
	va_end(ap);
	print(" # SKIP %s\n", why);
}

void diag(const char *fmt, ...)
{
	va_list ap;

	print("# ");
	va_start(ap, fmt);
	vprint(fmt, ap);
	va_end(ap);
	print("\n");
}

bool is(u64 got, u64 want, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vpoint(got == want, fmt, ap);
	va_end(ap);
	print("\n");
	if (got != want)
		diag("expected 0x%lx, got 0x%lx", want, got);
	return got == want;
}

static void __attribute__((noreturn)) machine_exit(u8 code)
{
	outb(EXIT_PORT, code);
	for (;;)
		asm volatile("cli; hlt");
}

void plan_and_exit(void)
{
	print("1..%u\n", points);
	machine_exit(EXIT_COMPLETE);
}

void bail_out(const char *fmt, ...)
{
	va_list ap;

	print("Bail out! ");
	va_start(ap, fmt);
	vprint(fmt, ap);
	va_end(ap);
	print("\n");
	machine_exit(EXIT_BAIL_OUT);
}

/* The start of the PVH hvm_start_info structure. */
struct start_info {
	u32 magic, version, flags, nr_modules;
	u64 modlist, cmdline;
};

#define START_INFO_MAGIC	0x336ec578

static const char *cmdline = "";

void cmdline_init(const void *start_info)
{
	const struct start_info *si = start_info;

	if (si->magic == START_INFO_MAGIC && si->cmdline)
		cmdline = (const char *)si->cmdline;
}

const char *cmdline_get(const char *name)
{
	u64 n = strlen(name);
	const char *p = cmdline;

	for (bool word_starts = true; *p; word_starts = *p++ == ' ') {
		if (word_starts && !strncmp(p, name, n) && p[n] == '=')
			return p + n + 1;
	}
	return NULL;
}

bool cmdline_is(const char *name, const char *value)
{
	const char *p = cmdline_get(name);
	u64 n = strlen(value);

	return p && !strncmp(p, value, n) && (p[n] == ' ' || !p[n]);
}

u64 cmdline_num(const char *name, u64 absent)
{
	const char *p = cmdline_get(name);
	u64 v = 0;

	if (!p)
		return absent;
	while (*p >= '0' && *p <= '9')
		v = v * 10 + *p++ - '0';
	return v;
}

void *memset(void *p, int c, u64 n)
{
	void *ret = p;
	u64 words = n / 8, word = (u8)c * 0x0101010101010101ul;

	/* By words: under TCG a round costs the same whatever its width. */
	asm volatile("rep stosq" : "+D" (p), "+c" (words) : "a" (word) : "memory");
	n %= 8;
	asm volatile("rep stosb" : "+D" (p), "+c" (n) : "a" (c) : "memory");
	return ret;
}

void *memcpy(void *d, const void *s, u64 n)
{
	void *ret = d;

	asm volatile("rep movsb" : "+D" (d), "+S" (s), "+c" (n) :: "memory");
	return ret;
}

int memcmp(const void *a, const void *b, u64 n)
{
	const u8 *x = a, *y = b;

	for (; n; n--, x++, y++)
		if (*x != *y)
			return *x - *y;
	return 0;
}

int strcmp(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return (u8)*a - (u8)*b;
}

int strncmp(const char *a, const char *b, u64 n)
{
	for (; n && *a && *a == *b; n--)
		a++, b++;
	return n ? (u8)*a - (u8)*b : 0;
}

u64 strlen(const char *s)
{
	u64 n = 0;

	while (s[n])
		n++;
	return n;
}
