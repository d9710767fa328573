/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_LIST_H
#define SHIM_LINUX_LIST_H

#include <stddef.h>

struct list_head {
	struct list_head *next, *prev;
};

#define list_for_each_entry(pos, head, member)					\
	for (pos = (void *)((char *)(head)->next - offsetof(__typeof__(*pos), member)); \
	     &pos->member != (head);						\
	     pos = (void *)((char *)pos->member.next - offsetof(__typeof__(*pos), member)))

#endif
