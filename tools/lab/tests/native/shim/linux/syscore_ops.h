/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_SYSCORE_OPS_H
#define SHIM_LINUX_SYSCORE_OPS_H

struct syscore_ops {
	int (*suspend)(void *data);
	void (*resume)(void *data);
	void (*shutdown)(void *data);
};

struct syscore {
	const struct syscore_ops *ops;
};

void register_syscore(struct syscore *syscore);
void unregister_syscore(struct syscore *syscore);

#endif
