// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sideband.c - turns perf's records into events in order of time, and replays them.
 *
 * The process of a CPU's user addresses is taken from context switches, and from some records that
 * the kernel writes in a thread's own context. A switch away from a thread names the next one: the
 * old one still executes kernel code then, but no user code any more. That matters, because
 * tracing of the next thread is enabled (and its time stamped) before the switch to it is recorded.
 */
#include "sideband.h"

#include <stdlib.h>
#include <string.h>

struct mmap_body {
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
};

/* MMAP2 puts these between pgoff and the name. */
#define MMAP2_EXTRA	32

struct fork_body {
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
};

struct switch_body {
	uint32_t next_prev_pid, next_prev_tid;
};

struct comm_body {
	uint32_t pid, tid;
};

struct aux_body {
	uint64_t offset, size, flags;
};

struct poke_body {
	uint64_t addr;
	uint16_t old_len, new_len;
	uint8_t bytes[];
} __attribute__((packed));

struct lost_body {
	uint64_t id, lost;
};

struct auxtrace_body {
	uint64_t size, offset, reference;
	uint32_t idx, tid, cpu, reserved;
};

static const void *body_of(const struct perf_rec *rec, size_t size)
{
	if (rec->body_size < size)
		die("damaged record of type %u at %llu: %zu bytes, %zu needed", rec->header->type,
		    (unsigned long long)rec->file_offset, rec->body_size, size);
	return rec->body;
}

static struct side_event *add_event(struct sideband *sb, const struct perf_rec *rec,
				    enum side_kind kind)
{
	struct side_event *ev = array_add(sb->events, sb->nr_events);

	memset(ev, 0, sizeof(*ev));
	ev->kind = kind;
	ev->tsc = rec->has_time ? perf_time_to_tsc(&sb->file->pt, rec->time) : 0;
	ev->order = rec->file_offset;
	ev->pid = rec->pid;
	ev->tid = rec->tid;
	ev->cpu = rec->cpu;
	ev->has_cpu = rec->has_cpu;
	return ev;
}

static void add_map(struct sideband *sb, const struct perf_rec *rec)
{
	const struct mmap_body *body = body_of(rec, sizeof(*body));
	bool mmap2 = rec->header->type == PERF_RECORD_MMAP2;
	size_t name_at = sizeof(*body) + (mmap2 ? MMAP2_EXTRA : 0);
	struct side_event *ev;

	body_of(rec, name_at + 1);
	/* Data mappings are recorded when asked for; no code is read from them. */
	if (rec->header->misc & PERF_RECORD_MISC_MMAP_DATA)
		return;
	/* The kernel describes itself by pid -1; its text comes from elsewhere. */
	if (body->pid == UINT32_MAX)
		return;
	if (!memchr(rec->body + name_at, 0, rec->body_size - name_at))
		die("damaged record at %llu: file name without end",
		    (unsigned long long)rec->file_offset);
	ev = add_event(sb, rec, SIDE_MAP);
	ev->pid = body->pid;
	ev->addr = body->addr;
	ev->len = body->len;
	ev->pgoff = body->pgoff;
	ev->name = (const char *)rec->body + name_at;
}

static void add_fork(struct sideband *sb, const struct perf_rec *rec)
{
	const struct fork_body *body = body_of(rec, sizeof(*body));
	struct side_event *ev = add_event(sb, rec, SIDE_FORK);

	ev->pid = body->pid;
	ev->ppid = body->ppid;
	ev->tid = body->tid;
	ev->has_cpu = false;
}

static void add_comm(struct sideband *sb, const struct perf_rec *rec)
{
	const struct comm_body *body = body_of(rec, sizeof(*body));
	bool exec = rec->header->misc & PERF_RECORD_MISC_COMM_EXEC;
	struct side_event *ev = add_event(sb, rec, exec ? SIDE_EXEC : SIDE_SEEN);

	/* Another thread may rename this one: only exec is certain to be its own doing. */
	ev->has_cpu = ev->has_cpu && exec;
	ev->pid = body->pid;
	ev->tid = body->tid;
}

static void add_poke(struct sideband *sb, const struct perf_rec *rec)
{
	const struct poke_body *body = body_of(rec, sizeof(*body));
	struct side_event *ev;

	body_of(rec, sizeof(*body) + body->old_len + body->new_len);
	ev = add_event(sb, rec, SIDE_POKE);
	ev->has_cpu = false;
	ev->addr = body->addr;
	ev->len = body->new_len;
	ev->bytes = body->bytes + body->old_len;
}

static void add_aux(struct sideband *sb, const struct perf_rec *rec)
{
	const struct aux_body *body = body_of(rec, sizeof(*body));
	struct aux_record *aux = array_add(sb->aux, sb->nr_aux);

	aux->cpu = rec->has_cpu ? rec->cpu : UINT32_MAX;
	aux->tid = rec->tid;
	aux->offset = body->offset;
	aux->size = body->size;
	aux->flags = body->flags;
}

static void add_piece(struct sideband *sb, const struct perf_rec *rec)
{
	const struct auxtrace_body *body = body_of(rec, sizeof(*body));
	struct aux_piece *piece;

	if (!body->size)
		return;
	piece = array_add(sb->pieces, sb->nr_pieces);
	piece->idx = body->idx;
	piece->tid = body->tid;
	piece->cpu = body->cpu;
	piece->offset = body->offset;
	piece->size = body->size;
	piece->data = rec->payload;
}

static void add_switch(struct sideband *sb, const struct perf_rec *rec)
{
	bool out = rec->header->misc & PERF_RECORD_MISC_SWITCH_OUT;
	const struct switch_body *body;
	struct side_event *ev;

	if (!out) {
		add_event(sb, rec, SIDE_SWITCH);
	} else if (rec->header->type == PERF_RECORD_SWITCH_CPU_WIDE) {
		body = body_of(rec, sizeof(*body));
		ev = add_event(sb, rec, SIDE_SWITCH);
		ev->pid = body->next_prev_pid;
		ev->tid = body->next_prev_tid;
	}
}

static void add_record(const struct perf_rec *rec, void *arg)
{
	struct sideband *sb = arg;

	switch (rec->header->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		add_map(sb, rec);
		break;
	case PERF_RECORD_FORK:
		add_fork(sb, rec);
		break;
	case PERF_RECORD_COMM:
		add_comm(sb, rec);
		break;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		add_switch(sb, rec);
		break;
	case PERF_RECORD_ITRACE_START:
		add_event(sb, rec, SIDE_SEEN);
		break;
	case PERF_RECORD_TEXT_POKE:
		add_poke(sb, rec);
		break;
	case PERF_RECORD_AUX:
		add_aux(sb, rec);
		break;
	case PERFTOOL_AUXTRACE:
		add_piece(sb, rec);
		break;
	case PERF_RECORD_LOST:
		sb->lost_records += ((const struct lost_body *)body_of(rec, 16))->lost;
		break;
	}
}

static int by_time(const void *a, const void *b)
{
	const struct side_event *x = a, *y = b;

	if (x->tsc != y->tsc)
		return x->tsc < y->tsc ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

void sideband_read(struct sideband *sb, struct perf_file *file)
{
	memset(sb, 0, sizeof(*sb));
	sb->file = file;
	perf_file_for_each(file, add_record, sb);
	if (sb->nr_events)
		qsort(sb->events, sb->nr_events, sizeof(*sb->events), by_time);
}

void sideband_free(struct sideband *sb)
{
	free(sb->events);
	free(sb->aux);
	free(sb->pieces);
}

void side_state_init(struct side_state *st, const struct sideband *sb, uint32_t cpu, uint32_t tid)
{
	memset(st, 0, sizeof(*st));
	st->sb = sb;
	st->cpu = cpu;
	st->tid = tid;
}

void side_state_free(struct side_state *st)
{
	size_t i;

	for (i = 0; i < st->nr_procs; i++)
		free(st->procs[i].maps);
	free(st->procs);
	free(st->threads);
}

static struct process *get_process(struct side_state *st, uint32_t pid)
{
	struct process *proc;
	size_t i;

	/* The youngest are asked for most. */
	for (i = st->nr_procs; i--;)
		if (st->procs[i].pid == pid)
			return &st->procs[i];
	proc = array_add(st->procs, st->nr_procs);
	memset(proc, 0, sizeof(*proc));
	proc->pid = pid;
	return proc;
}

static void set_thread(struct side_state *st, uint32_t tid, uint32_t pid)
{
	struct thread *thread;
	size_t i;

	for (i = st->nr_threads; i--;) {
		if (st->threads[i].tid == tid) {
			st->threads[i].pid = pid;
			return;
		}
	}
	thread = array_add(st->threads, st->nr_threads);
	thread->tid = tid;
	thread->pid = pid;
}

static void drop_maps(struct process *proc)
{
	free(proc->maps);
	proc->maps = NULL;
	proc->nr_maps = 0;
}

static void apply_fork(struct side_state *st, const struct side_event *ev)
{
	struct process *child, *parent;
	size_t i;

	set_thread(st, ev->tid, ev->pid);
	if (ev->pid == ev->ppid)
		return;
	/* A pid may have been used before. get_process() may move the array: look up twice. */
	drop_maps(get_process(st, ev->pid));
	get_process(st, ev->ppid);
	child = get_process(st, ev->pid);
	parent = get_process(st, ev->ppid);
	for (i = 0; i < parent->nr_maps; i++)
		*array_add(child->maps, child->nr_maps) = parent->maps[i];
}

static void map_from_event(struct code_map *map, const struct side_event *ev)
{
	map->addr = ev->addr;
	map->len = ev->len;
	map->pgoff = ev->pgoff;
	map->name = ev->name;
}

static void apply(struct side_state *st, const struct side_event *ev)
{
	struct process *proc;

	switch (ev->kind) {
	case SIDE_MAP:
		proc = get_process(st, ev->pid);
		map_from_event(array_add(proc->maps, proc->nr_maps), ev);
		break;
	case SIDE_FORK:
		apply_fork(st, ev);
		break;
	case SIDE_EXEC:
		drop_maps(get_process(st, ev->pid));
		break;
	case SIDE_POKE:
		if (st->poke)
			st->poke(ev, st->poke_arg);
		break;
	case SIDE_SWITCH:
	case SIDE_SEEN:
		break;
	}
	if (ev->tid && ev->kind != SIDE_FORK && ev->kind != SIDE_POKE)
		set_thread(st, ev->tid, ev->pid);
	if (ev->has_cpu && ev->tsc && ev->cpu == st->cpu)
		st->tid = ev->tid;
	st->generation++;
}

void side_state_advance(struct side_state *st, uint64_t tsc)
{
	const struct sideband *sb = st->sb;

	while (st->next < sb->nr_events && sb->events[st->next].tsc <= tsc)
		apply(st, &sb->events[st->next++]);
}

void side_state_settle(struct side_state *st)
{
	const struct sideband *sb = st->sb;
	size_t i, last = 0;

	for (i = 0; i < sb->nr_events; i++)
		if (sb->events[i].kind == SIDE_EXEC &&
		    (st->cpu != UINT32_MAX || sb->events[i].tid == st->tid))
			last = i + 1;
	while (st->next < last || (st->next < sb->nr_events && !sb->events[st->next].tsc))
		apply(st, &sb->events[st->next++]);
}

uint32_t side_state_pid(const struct side_state *st)
{
	size_t i;

	for (i = st->nr_threads; i--;)
		if (st->threads[i].tid == st->tid)
			return st->threads[i].pid;
	return st->tid;
}

static bool covers(uint64_t start, uint64_t len, uint64_t addr)
{
	return addr >= start && addr - start < len;
}

const struct code_map *side_state_find(struct side_state *st, uint32_t pid, uint64_t addr,
				       struct code_map *scratch)
{
	const struct sideband *sb = st->sb;
	struct process *proc = get_process(st, pid);
	size_t i;

	for (i = proc->nr_maps; i--;)
		if (covers(proc->maps[i].addr, proc->maps[i].len, addr))
			return &proc->maps[i];
	/*
	 * The trace's clock stands still between two timing packets, so a mapping that this
	 * code already uses may be recorded a little later than the clock says.
	 */
	for (i = st->next; i < sb->nr_events; i++) {
		const struct side_event *ev = &sb->events[i];

		if (ev->kind != SIDE_MAP || ev->pid != pid || !covers(ev->addr, ev->len, addr))
			continue;
		st->early_maps++;
		map_from_event(scratch, ev);
		return scratch;
	}
	return NULL;
}
