/* SPDX-License-Identifier: GPL-2.0-only */
/* TAP 14 on the debug console, and the boot command line. */
#ifndef TAP_H
#define TAP_H

#include "arch.h"

#define PRINTF(f, a) __attribute__((format(printf, f, a)))

void console_init(void);
void PRINTF(1, 2) print(const char *fmt, ...);

/* One test point; the description is printed as given. */
bool PRINTF(2, 3) ok(bool pass, const char *fmt, ...);
void PRINTF(2, 3) skip(const char *why, const char *fmt, ...);
/* A diagnostic line below the last point. */
void PRINTF(1, 2) diag(const char *fmt, ...);
/* ok() that shows both values on failure. */
bool PRINTF(3, 4) is(u64 got, u64 want, const char *fmt, ...);
void plan_and_exit(void) __attribute__((noreturn));
void PRINTF(1, 2) bail_out(const char *fmt, ...) __attribute__((noreturn));

void cmdline_init(const void *start_info);
/* Value of "name=value" on the command line, or NULL. */
const char *cmdline_get(const char *name);
/* Is there the word "name=value"? */
bool cmdline_is(const char *name, const char *value);
/* Number of "name=N", or @absent. */
u64 cmdline_num(const char *name, u64 absent);

#endif
