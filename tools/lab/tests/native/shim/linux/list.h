/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_LIST_H
#define SHIM_LINUX_LIST_H

#include <stddef.h>

struct list_head {
	struct list_head *next, *prev;
};

#define INIT_LIST_HEAD(head)	((void)((head)->next = (head)->prev = (head)))

static inline void list_add_tail(struct list_head *entry, struct list_head *head)
{
	*entry = (struct list_head) { .next = head, .prev = head->prev };
	head->prev->next = entry;
	head->prev = entry;
}

#define list_for_each_entry(pos, head, member)					\
	for (pos = (void *)((char *)(head)->next - offsetof(__typeof__(*pos), member)); \
	     &pos->member != (head);						\
	     pos = (void *)((char *)pos->member.next - offsetof(__typeof__(*pos), member)))

#endif
