/* SPDX-License-Identifier: GPL-2.0-only */
/* What the driver takes from perf's core; core.c has it. */
#ifndef SHIM_LINUX_PERF_EVENT_H
#define SHIM_LINUX_PERF_EVENT_H

#include <string.h>

#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/types.h>

#include <uapi/linux/perf_event.h>

#define PERF_EF_START	0x01
#define PERF_EF_RELOAD	0x02
#define PERF_EF_UPDATE	0x04
#define PERF_EF_PAUSE	0x08
#define PERF_EF_RESUME	0x10

#define PERF_HES_STOPPED	0x01
#define PERF_HES_UPTODATE	0x02

#define PERF_PMU_CAP_AUX_NO_SG		0x0004
#define PERF_PMU_CAP_EXCLUSIVE		0x0010
#define PERF_PMU_CAP_ITRACE		0x0020
#define PERF_PMU_CAP_AUX_PAUSE		0x0200
#define PERF_PMU_CAP_AUX_PREFER_LARGE	0x0400
#define PERF_PMU_CAP_AUX_ANY_SIZE	0x0800

#define static_assert(condition)	_Static_assert(condition, #condition)

struct attribute_group;
struct perf_event;
struct perf_buffer;
struct perf_output_handle;
struct dentry;

enum { perf_sw_context = 1 };

struct pmu {
	unsigned int capabilities;
	const struct attribute_group **attr_groups;
	int type;
	int task_ctx_nr;
	unsigned int nr_addr_filters;
	int (*event_init)(struct perf_event *event);
	int (*add)(struct perf_event *event, int mode);
	void (*del)(struct perf_event *event, int mode);
	void (*start)(struct perf_event *event, int mode);
	void (*stop)(struct perf_event *event, int mode);
	void (*read)(struct perf_event *event);
	void *(*setup_aux)(struct perf_event *event, void **pages, int nr_pages,
			   bool overwrite);
	void (*free_aux)(void *area);
	long (*snapshot_aux)(struct perf_event *event, struct perf_output_handle *record,
			     unsigned long size);
	int (*addr_filters_validate)(struct list_head *filters);
	void (*addr_filters_sync)(struct perf_event *event);
};

enum perf_addr_filter_action_t {
	PERF_ADDR_FILTER_ACTION_STOP,
	PERF_ADDR_FILTER_ACTION_START,
	PERF_ADDR_FILTER_ACTION_FILTER,
};

struct perf_addr_filter {
	struct list_head entry;
	struct {
		struct dentry *dentry;
	} path;
	unsigned long offset;
	unsigned long size;
	enum perf_addr_filter_action_t action;
};

struct perf_addr_filters_head {
	struct list_head list;
};

struct perf_addr_filter_range {
	unsigned long start;
	unsigned long size;
};

struct perf_event_attr {
	u32 type;
	u64 config;
	u32 aux_sample_size;
	bool exclude_user;
	bool exclude_kernel;
};

/* In a union, as in the kernel: config is no place for an AUX event's own. */
struct hw_perf_event {
	union {
		u64 config;
		struct {
			u64 aux_config;
			unsigned int aux_paused;
			bool aux_in_pause, aux_pause_wanted;
		};
	};
	void *addr_filters;
	int state;
	int flags;
};

struct perf_event {
	struct perf_event_attr attr;
	struct hw_perf_event hw;
	struct pmu *pmu;
	struct perf_event *parent;
	struct perf_buffer *rb;
	int cpu;
	int pending_disable;
	struct perf_addr_filters_head addr_filters;
	struct perf_addr_filter_range *addr_filter_ranges;
	void (*destroy)(struct perf_event *event);
	unsigned int itrace_started;
};

struct perf_output_handle {
	struct perf_event *event;
	struct perf_buffer *rb;
	unsigned long wakeup;
	unsigned long size;
	u64 aux_flags;
	unsigned long head;
};

static inline struct perf_addr_filters_head *
perf_event_addr_filters(struct perf_event *event)
{
	return &event->addr_filters;
}

void perf_event_addr_filters_sync(struct perf_event *event);
void perf_event_itrace_started(struct perf_event *event);
int perf_pmu_register(struct pmu *pmu, const char *name, int type);

void *perf_aux_output_begin(struct perf_output_handle *handle, struct perf_event *event);
void perf_aux_output_flag(struct perf_output_handle *handle, u64 flags);
void perf_aux_output_end(struct perf_output_handle *handle, unsigned long size);
int perf_aux_output_skip(struct perf_output_handle *handle, unsigned long size);
void perf_aux_output_publish(struct perf_output_handle *handle, unsigned long size);
void *perf_get_aux(struct perf_output_handle *handle);
long perf_output_copy_aux(struct perf_output_handle *source,
			  struct perf_output_handle *record,
			  unsigned long from, unsigned long to);

#endif
