/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_PRINTK_H
#define SHIM_LINUX_PRINTK_H

void shim_warn(const char *format, ...);
void shim_warn_once(const char *format, ...);

#define pr_info(...)			((void)0)
#define pr_warn(...)			shim_warn(__VA_ARGS__)
/* The machine knows what it has said since it was booted. */
#define pr_warn_once(...)		shim_warn_once(__VA_ARGS__)
#define pr_warn_ratelimited(...)	shim_warn(__VA_ARGS__)
#define printk_deferred_enter()		((void)0)
#define printk_deferred_exit()		((void)0)

#endif
