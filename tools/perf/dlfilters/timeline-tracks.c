// SPDX-License-Identifier: GPL-2.0
/*
 * timeline-tracks.c - threads and areas, and the tracks that they have
 *
 * Both are in tables of a fixed size. Of more threads than there is room for, the one
 * that was not seen for the longest is forgotten; if it comes again, it begins again.
 */
#include "timeline-tracks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline-calls.h"
#include "timeline-json.h"

#define THREADS_MAX	2048
#define BUCKETS		4096
#define AREAS_MAX	4096

/*
 * No process has this number (PID_MAX_LIMIT), so it is that of tracks of CPUs. Their
 * threads have numbers of their own, as viewers want each number once.
 */
#define CPU_PID		0x400000
#define RUN_TID		0x400001
#define IDLE_TID	0x600000
#define HOLES_TID	0x800000

struct entry {
	struct tl_thread thread;
	struct entry *next;
};

static struct {
	struct entry *threads, *buckets[BUCKETS];
	struct tl_area *areas;
	u32 nr_areas;
	u64 serial;
} tracks;

static s32 pid_of(const struct tl_thread *thread)
{
	return thread->tid > 0 ? thread->pid : CPU_PID;
}

static s32 tid_of(const struct tl_thread *thread)
{
	return thread->tid > 0 ? thread->tid : IDLE_TID + 2 * thread->cpu + (thread->tid < 0);
}

static char *put_ids(char *p, s32 pid, s32 tid)
{
	p = tl_put(p, "\"pid\":");
	p = tl_put_number(p, pid);
	p = tl_put(p, ",\"tid\":");
	return tl_put_number(p, tid);
}

static char *put_times(char *p, u64 from, u64 to)
{
	p = tl_put(p, ",\"ts\":");
	p = tl_put_time(p, from);
	p = tl_put(p, ",\"dur\":");
	return tl_put_time(p, to - from);
}

static char *slice(s32 pid, s32 tid, u64 from, u64 to)
{
	char *p = tl_json_reserve();

	p = tl_put(p, ",\n{\"ph\":\"X\",");
	p = put_ids(p, pid, tid);
	return put_times(p, from, to);
}

char *tl_slice_of_thread(const struct tl_thread *thread, u64 from, u64 to)
{
	char *p = tl_json_reserve();

	p = tl_put(p, ",\n{\"ph\":\"X\",");
	p = tl_put_bytes(p, thread->ids, thread->ids_len);
	return put_times(p, from, to);
}

/* Call a process or a thread by a name, with a number behind it if that is not negative. */
static void name_it(const char *what, s32 pid, s32 tid, const char *name, s32 number)
{
	char *p = tl_json_reserve();

	p = tl_put(p, ",\n{\"ph\":\"M\",");
	p = put_ids(p, pid, tid);
	p = tl_put(p, ",\"name\":");
	p = tl_put_string(p, what);
	p = tl_put(p, ",\"args\":{\"name\":\"");
	p = tl_put_escaped(p, name);
	if (number >= 0)
		p = tl_put_number(p, number);
	tl_json_commit(tl_put(p, "\"}}"));
}

static void name_thread(const struct tl_thread *thread, const char *what)
{
	if (thread->tid > 0)
		name_it(what, thread->pid, thread->tid, thread->comm, -1);
	else
		name_it("thread_name", CPU_PID, tid_of(thread), thread->tid ?
			"thread not known, CPU " : "idle, CPU ", thread->cpu);
}

char *tl_slice_of_holes(struct tl_area *area, u64 from, u64 to)
{
	if (!area->holes_named)
		name_it("thread_name", CPU_PID, HOLES_TID + area->key,
			tl_rec.per_cpu ? "holes, CPU " : "holes, thread ", area->key);
	area->holes_named = true;
	return slice(CPU_PID, HOLES_TID + area->key, from, to);
}

static struct entry **bucket_of(s32 tid, s32 cpu)
{
	return &tracks.buckets[(u32)(tid > 0 ? tid : cpu) % BUCKETS];
}

static struct tl_thread *look_up(s32 tid, s32 cpu)
{
	struct entry *entry;

	for (entry = *bucket_of(tid, cpu); entry; entry = entry->next) {
		if (entry->thread.tid == tid && (tid > 0 || entry->thread.cpu == cpu))
			return &entry->thread;
	}
	return NULL;
}

struct tl_thread *tl_thread_find(s32 tid)
{
	return tid > 0 ? look_up(tid, -1) : NULL;
}

/* A free entry, or that of the thread that was not seen for the longest. */
static struct entry *make_room(void)
{
	struct entry *entry, *oldest = tracks.threads;

	for (entry = tracks.threads; entry < tracks.threads + THREADS_MAX; entry++) {
		if (!entry->thread.serial)
			return entry;
		if (entry->thread.serial < oldest->thread.serial)
			oldest = entry;
	}
	tl_thread_end(&oldest->thread, "too many threads");
	return oldest;
}

static bool process_is_new(s32 pid)
{
	struct entry *entry;

	for (entry = tracks.threads; entry < tracks.threads + THREADS_MAX; entry++) {
		if (entry->thread.serial && entry->thread.pid == pid)
			return false;
	}
	return true;
}

static struct tl_thread *add(const struct perf_dlfilter_sample *sample, s32 cpu, void *ctx)
{
	const struct perf_dlfilter_al *al = perf_dlfilter_fns.resolve_ip(ctx);
	struct entry *entry = make_room(), **bucket = bucket_of(sample->tid, cpu);
	struct tl_thread *thread = &entry->thread;
	bool first = sample->tid > 0 && (sample->tid == sample->pid || process_is_new(sample->pid));

	memset(entry, 0, sizeof(*entry));
	thread->pid = sample->pid;
	thread->tid = sample->tid;
	thread->cpu = cpu;
	thread->kernel = TL_NO_KERNEL;
	if (al && al->comm)
		snprintf(thread->comm, sizeof(thread->comm), "%s", al->comm);
	entry->next = *bucket;
	*bucket = entry;
	if (first)
		name_thread(thread, "process_name");
	thread->ids_len = put_ids(thread->ids, pid_of(thread), tid_of(thread)) - thread->ids;
	name_thread(thread, "thread_name");
	return thread;
}

struct tl_thread *tl_thread_of(const struct perf_dlfilter_sample *sample, void *ctx)
{
	s32 cpu = sample->tid > 0 ? -1 : sample->cpu < 0 ? 0 : sample->cpu;
	struct tl_thread *thread = look_up(sample->tid, cpu);

	if (!thread)
		thread = add(sample, cpu, ctx);
	thread->serial = ++tracks.serial;
	return thread;
}

void tl_thread_rename(struct tl_thread *thread, const char *comm)
{
	if (!strncmp(thread->comm, comm, sizeof(thread->comm) - 1))
		return;
	snprintf(thread->comm, sizeof(thread->comm), "%s", comm);
	if (thread->tid == thread->pid)
		name_thread(thread, "process_name");
	name_thread(thread, "thread_name");
}

void tl_thread_close(struct tl_thread *thread, const char *why)
{
	tl_calls_close(thread, 0, thread->last, thread->exiting ? "exit" : why);
}

void tl_thread_end(struct tl_thread *thread, const char *why)
{
	struct entry **link = bucket_of(thread->tid, thread->cpu);
	struct tl_area *area;

	tl_thread_close(thread, why);
	for (area = tracks.areas; area < tracks.areas + AREAS_MAX; area++) {
		if (area->thread == thread)
			tl_area_run(area, NULL, thread->last);
	}
	while (&(*link)->thread != thread)
		link = &(*link)->next;
	*link = (*link)->next;
	free(thread->calls);
	memset(thread, 0, sizeof(*thread));
}

void tl_threads_for_each(void (*fn)(struct tl_thread *thread))
{
	struct entry *entry;

	for (entry = tracks.threads; entry < tracks.threads + THREADS_MAX; entry++) {
		if (entry->thread.serial)
			fn(&entry->thread);
	}
}

static void add_area(struct tl_area *area, s32 key)
{
	if (++tracks.nr_areas > AREAS_MAX / 2)
		tl_die("record per CPU, not --per-thread", "the trace has more than %u areas",
		       AREAS_MAX / 2);
	area->used = true;
	area->key = key;
	if (tl_rec.per_cpu && key >= 0)
		name_it("thread_name", CPU_PID, RUN_TID + key, "CPU ", key);
}

struct tl_area *tl_area_of(s32 key)
{
	u32 i = (u32)key % AREAS_MAX;

	while (tracks.areas[i].used && tracks.areas[i].key != key)
		i = (i + 1) % AREAS_MAX;
	if (!tracks.areas[i].used)
		add_area(&tracks.areas[i], key);
	return &tracks.areas[i];
}

void tl_areas_for_each(void (*fn)(struct tl_area *area))
{
	struct tl_area *area;

	for (area = tracks.areas; area < tracks.areas + AREAS_MAX; area++) {
		if (area->used)
			fn(area);
	}
}

static void close_run(struct tl_area *area, u64 time)
{
	const struct tl_thread *thread = area->thread;
	u64 from = tl_tick(&area->run_last, area->run_since);
	char *p;

	p = slice(CPU_PID, RUN_TID + area->key, from, tl_tick(&area->run_last, time));
	p = tl_put(p, ",\"cat\":\"running\",\"name\":");
	p = tl_put_string(p, thread->tid > 0 ? thread->comm : thread->tid ? "not known" : "idle");
	p = tl_put(p, ",\"args\":{");
	if (thread->tid >= 0)
		p = tl_put_number(tl_put(p, "\"tid\":"), thread->tid);
	tl_json_commit(tl_put(p, "}}"));
	area->run_since = 0;
}

void tl_area_run(struct tl_area *area, struct tl_thread *thread, u64 time)
{
	if (area->run_since && area->thread != thread)
		close_run(area, time);
	area->thread = thread;
	if (thread && !area->run_since && tl_rec.per_cpu && area->key >= 0)
		area->run_since = time;
}

/* The first event. */
void tl_tracks_begin(void)
{
	char *p = tl_json_reserve();

	p = tl_put(p, "\n{\"ph\":\"M\",");
	p = put_ids(p, CPU_PID, CPU_PID);
	p = tl_put(p, ",\"name\":\"process_name\",\"args\":{\"name\":");
	p = tl_put_string(p, tl_rec.per_cpu ? "CPUs" : "Areas");
	tl_json_commit(tl_put(p, "}}"));
}

void tl_tracks_init(void)
{
	tracks.threads = tl_alloc(THREADS_MAX * sizeof(*tracks.threads));
	tracks.areas = tl_alloc(AREAS_MAX * sizeof(*tracks.areas));
}

static void free_calls(struct tl_thread *thread)
{
	free(thread->calls);
}

static void free_area(struct tl_area *area)
{
	if (area->pt)
		tl_pt_free(area->pt);
	if (area->bts)
		tl_bts_free(area->bts);
	if (area->snapshots)
		tl_snapshots_free(area->snapshots);
	free(area->pt);
	free(area->bts);
	free(area->snapshots);
}

void tl_tracks_exit(void)
{
	tl_threads_for_each(free_calls);
	tl_areas_for_each(free_area);
	free(tracks.threads);
	free(tracks.areas);
}
