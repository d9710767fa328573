// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is known of the branches in a call chain, while chains of two histogram entries are merged.
 *
 * A chain is merged by way of a cursor, as if it were a sample's. A node of the cursor stands for a
 * place in the chain that goes away, which may have the branches of many samples.
 */
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/list.h>

#include "callchain.h"
#include "map.h"

/* The node that was appended last stands for a place of a chain that is merged. */
void callchain_cursor__set_merged(struct callchain_cursor *cursor, struct callchain_list *list)
{
	container_of(cursor->last, struct callchain_cursor_node, next)->merged = list;
}

static void add_types(struct branch_type_stat *to, const struct branch_type_stat *from)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(to->counts); i++)
		to->counts[i] += from->counts[i];
	for (i = 0; i < ARRAY_SIZE(to->new_counts); i++)
		to->new_counts[i] += from->new_counts[i];
	to->cond_fwd += from->cond_fwd;
	to->cond_bwd += from->cond_bwd;
	to->cross_4k += from->cross_4k;
	to->cross_2m += from->cross_2m;
}

static void take_types(struct callchain_list *to, struct callchain_list *from)
{
	to->brtype_stat.branch_to |= from->brtype_stat.branch_to;
	add_types(&to->brtype_stat, &from->brtype_stat);
	memset(&from->brtype_stat, 0, sizeof(from->brtype_stat));
}

static u64 take(u64 *count)
{
	u64 had = *count;

	*count = 0;
	return had;
}

/*
 * Add what @from has counted to @to. @from has then counted nothing: it is met again where several
 * chains begin with it.
 */
void callchain_list__take_counts(struct callchain_list *to, struct callchain_list *from)
{
	to->branch_count += take(&from->branch_count);
	to->from_count += take(&from->from_count);
	to->cycles_count += take(&from->cycles_count);
	to->iter_count += take(&from->iter_count);
	to->iter_cycles += take(&from->iter_cycles);
	to->predicted_count += take(&from->predicted_count);
	to->abort_count += take(&from->abort_count);
	take_types(to, from);
}

/* The places of a chain that was merged. */
void callchain_list__free_merged(struct list_head *places)
{
	while (!list_empty(places)) {
		struct callchain_list *place;

		place = list_first_entry(places, struct callchain_list, list);
		list_del(&place->list);
		map__put(place->ms.map);
		free(place);
	}
}
