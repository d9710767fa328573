/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the AUX core takes from the kernel, in user space: one CPU at a time, and
 * NMIs wherever the core says that one may come. Structures have those members
 * that the core uses, and functions do what the core relies on, or note that
 * they were called.
 */
#ifndef WORLD_H
#define WORLD_H

#include <errno.h>
#include <limits.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/types.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include <uapi/linux/perf_event.h>

typedef __u16 u16;
typedef long s64;
typedef unsigned int vm_fault_t;

/* Code */

/* The kernel's accept a constant of another type. */
#undef max
#define max(a, b)		({ __typeof__((a) + (b)) a_ = (a), b_ = (b); a_ > b_ ? a_ : b_; })

#define swap(a, b)		({ __typeof__(a) was_ = (a); (a) = (b); (b) = was_; })
#define CIRC_SPACE(head, tail, size)	(((tail) - ((head) + 1)) & ((size) - 1))
#undef __always_inline
#define __always_inline		inline __attribute__((always_inline))
#define noinline		__attribute__((noinline))
#define ____cacheline_aligned
#define likely(x)		(x)
#define unlikely(x)		(x)
#define container_of(p, type, member)	((type *)((char *)(p) - offsetof(type, member)))
#define WARN_ON_ONCE(x)		({ bool warn_ = (x); world.warnings += warn_; warn_; })
#define lockdep_assert_held(lock)	must((lock)->held, "a lock is held")

void must(bool good, const char *what);

/* Memory order: one CPU runs; at each of these, an NMI or another CPU may come. */

void nmi_point(void);
void other_cpu_point(void);

#define barrier()		nmi_point()
#define smp_mb()		nmi_point()
#define smp_wmb()		nmi_point()
#define READ_ONCE(x)		(other_cpu_point(), *(volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v)	((void)(*(volatile __typeof__(x) *)&(x) = (v)))
#define smp_load_acquire(p)	READ_ONCE(*(p))
#define smp_store_release(p, v)	WRITE_ONCE(*(p), v)
#define xchg(p, v)		({ __typeof__(*(p)) was_ = *(p); *(p) = (v); was_; })
#define cmpxchg(p, o, n)	({ __typeof__(*(p)) was_ = *(p); if (was_ == (o)) *(p) = (n); was_; })

typedef struct { int counter; } atomic_t;
typedef struct { long counter; } atomic_long_t, atomic64_t, local_t, refcount_t;

#define atomic_read(a)		((a)->counter)
#define atomic_set(a, v)	((void)((a)->counter = (v)))
#define atomic_inc(a)		((void)(a)->counter++)
#define atomic_dec_and_test(a)	(!--(a)->counter)
#define atomic_inc_not_zero(a)	((a)->counter ? !!++(a)->counter : false)
#define refcount_read		atomic_read
#define refcount_set		atomic_set
#define refcount_inc_not_zero	atomic_inc_not_zero
#define refcount_inc		atomic_inc
#define atomic_long_read	atomic_read
#define atomic_long_add(v, a)	((void)((a)->counter += (v)))
#define atomic_long_sub(v, a)	((void)((a)->counter -= (v)))
#define atomic_long_inc_not_zero	atomic_inc_not_zero
#define atomic64_read		atomic_read
#define atomic64_add		atomic_long_add
#define atomic64_inc		atomic_inc
#define atomic64_sub		atomic_long_sub
#define atomic64_try_cmpxchg(a, old, new) \
	((a)->counter == *(old) ? ((a)->counter = (new), true) : (*(old) = (a)->counter, false))
#define local_read		atomic_read

/* Locks and contexts */

struct mutex { bool held; };
typedef struct { bool held; } spinlock_t;
#define DEFINE_SPINLOCK(name)	spinlock_t name
#define mutex_init(m)		((void)((m)->held = false))
#define mutex_lock(m)		(must(!(m)->held, "a lock is free"), (void)((m)->held = true))
#define mutex_unlock(m)		(must((m)->held, "a lock is held"), (void)((m)->held = false))
#define spin_lock		mutex_lock
#define spin_unlock		mutex_unlock
#define atomic_dec_and_mutex_lock(a, m)	\
	(--(a)->counter ? false : (mutex_lock(m), true))
/* Interrupts are off. */
#define rcu_dereference_raw(p)	READ_ONCE(p)
#define rcu_read_lock()		((void)world.rcu++)
#define rcu_read_unlock()	((void)world.rcu--)
#define local_irq_save(flags)	((void)((flags) = world.irqs_off++))
#define local_irq_restore(flags) ((void)(world.irqs_off = (flags)))
#define cond_resched()		must(!world.irqs_off && !world.rcu, "sleeping is allowed")
#define cpu_relax()		((void)0)
#define IS_ENABLED(option)	(option)
#define CONFIG_MMU		1

struct irq_work { void (*func)(struct irq_work *work); bool queued; };
struct work_struct { void (*func)(struct work_struct *work); bool queued; };
#define IRQ_WORK_INIT_HARD(f)	((struct irq_work){ .func = (f) })
#define INIT_WORK(w, f)		(*(w) = (struct work_struct){ .func = (f) })
bool irq_work_queue(struct irq_work *work);
enum wq { system_dfl_wq };
bool queue_work(enum wq wq, struct work_struct *work);

/* Lists */

#define list_entry_(p, pos, m)	((__typeof__(pos))((char *)(p) - offsetof(__typeof__(*(pos)), m)))
#define list_for_each_entry_rcu(pos, head, m) \
	for (pos = list_entry_((head)->next, pos, m); &pos->m != (head); \
	     pos = list_entry_(pos->m.next, pos, m))
void list_init(struct list_head *head);
void list_add(struct list_head *entry, struct list_head *head);
void list_del(struct list_head *entry);

/* Memory */

#define PAGE_MASK		(~(PAGE_SIZE - 1))
#define SZ_2M			(2UL << 20)
#define offset_in_page(p)	((unsigned long)(p) & ~PAGE_MASK)
#define round_up(x, y)		(((x) + (y) - 1) / (y) * (y))
#define ALIGN_DOWN(x, y)	((x) / (y) * (y))
void split_page(struct page *page, unsigned int order);
unsigned long totalram_pages(void);
int get_order(unsigned long size);
bool fatal_signal_pending(void *task);

#define SetPagePrivate(p)	((void)((p)->has_private = true))
#define ClearPagePrivate(p)	((void)((p)->has_private = false))
#define PagePrivate(p)		((p)->has_private)
#define get_page(p)		((void)(p)->refs++)

struct user_struct { atomic_long_t perf_mlock; int refs; };
struct mm_struct { atomic64_t pinned_vm; int refs; };
struct task { struct mm_struct *mm; struct user_struct *user; };

#define current			(&world.task)
#define current_user()		(world.task.user)
#define get_uid(u)		((void)(u)->refs++)
#define free_uid(u)		((void)(u)->refs--)
#define mmgrab(m)		((void)(m)->refs++)
#define mmdrop(m)		((void)(m)->refs--)
#define RLIMIT_MEMLOCK		8
#define CAP_IPC_LOCK		14
#define rlimit(which)		(world.memlock)
#define perf_is_paranoid()	(world.paranoid)
#define num_online_cpus()	2UL
bool capable(int what);
extern int sysctl_perf_event_mlock;

#define VM_WRITE		1UL
#define VM_SHARED		2UL
#define VM_DONTEXPAND		8UL
#define VM_DONTCOPY		16UL
#define VM_DONTDUMP		32UL
#define VM_IO			64UL
#define VM_PFNMAP		128UL
#define VM_FAULT_SIGBUS		1U
#define VM_FAULT_OOM		2U
#define VM_FAULT_NOPAGE		4U
#define VM_FAULT_ERROR		(VM_FAULT_SIGBUS | VM_FAULT_OOM)
#define vm_fault_to_errno(f, g)	((f) & VM_FAULT_OOM ? -ENOMEM : -EFAULT)
#define FAULT_FLAG_WRITE	1U

struct file { void *private_data; void *f_mapping; };
struct vm_area_struct {
	unsigned long vm_start, vm_end, vm_pgoff, vm_flags;
	struct file *vm_file;
	struct mm_struct *vm_mm;
	const struct vm_operations_struct *vm_ops;
};
struct vm_fault {
	struct vm_area_struct *vma;
	unsigned long address, pgoff;
	unsigned int flags;
	struct page *page;
};
struct vm_operations_struct {
	void (*open)(struct vm_area_struct *vma);
	void (*close)(struct vm_area_struct *vma);
	int (*may_split)(struct vm_area_struct *vma, unsigned long addr);
	vm_fault_t (*fault)(struct vm_fault *vmf);
	vm_fault_t (*page_mkwrite)(struct vm_fault *vmf);
	vm_fault_t (*pfn_mkwrite)(struct vm_fault *vmf);
};

#define vma_pages(v)		(((v)->vm_end - (v)->vm_start) >> PAGE_SHIFT)
#define vm_flags_set(v, f)	((void)((v)->vm_flags |= (f)))
/* A protection is the flags that it is for. */
typedef unsigned long pgprot_t;
#define vm_get_page_prot(f)	(f)
unsigned long page_to_pfn(const struct page *page);
vm_fault_t vmf_insert_pfn_prot(struct vm_area_struct *vma, unsigned long addr,
			       unsigned long pfn, pgprot_t prot);
void zap_special_vma_range(struct vm_area_struct *vma, unsigned long addr, unsigned long size);

/* Perf */

#define PERF_PMU_CAP_AUX_NO_SG		0x0004
#define PERF_PMU_CAP_ITRACE		0x0020
#define PERF_PMU_CAP_AUX_PAUSE		0x0200
#define PERF_PMU_CAP_AUX_PREFER_LARGE	0x0400
#define PERF_PMU_CAP_AUX_ANY_SIZE	0x0800
#define PERF_EF_UPDATE			4
#define PERF_EF_PAUSE			8
#define PERF_EF_RESUME			16
#define PERF_ATTACH_GROUP		1
#define PERF_ATTACH_ITRACE		16
#define PERF_RECORD_AUX			11
#define PERF_RECORD_ITRACE_START	12
#define PERF_RECORD_AUX_OUTPUT_HW_ID	21
#define RING_BUFFER_WRITABLE		1
#define __user

enum perf_event_state {
	PERF_EVENT_STATE_ERROR = -2,
	PERF_EVENT_STATE_OFF = -1,
	PERF_EVENT_STATE_INACTIVE = 0,
	PERF_EVENT_STATE_ACTIVE = 1,
};

struct perf_event;
struct perf_output_handle;

struct pmu {
	void *module;
	int capabilities;
	void *(*setup_aux)(struct perf_event *event, void **pages, int nr_pages, bool overwrite);
	void (*free_aux)(void *aux);
	void (*start)(struct perf_event *event, int flags);
	void (*stop)(struct perf_event *event, int flags);
	long (*snapshot_aux)(struct perf_event *event, struct perf_output_handle *record,
			     unsigned long size);
	int (*aux_output_match)(struct perf_event *event);
	void (*event_mapped)(struct perf_event *event, struct mm_struct *mm);
	void (*event_unmapped)(struct perf_event *event, struct mm_struct *mm);
};

struct perf_event_attr {
	__u32 aux_watermark, aux_sample_size, wakeup_watermark;
	bool watermark, sample_id_all, write_backward, inherit, aux_output, aux_pause, aux_resume;
};

struct perf_event_context { struct list_head event_list; void *parent_ctx; };
struct perf_cpu_context { struct perf_event_context ctx, *task_ctx; };

struct perf_event {
	struct pmu *pmu;
	struct perf_event_attr attr;
	struct hw_perf_event { bool aux_paused, aux_in_pause, aux_pause_wanted; } hw;
	enum perf_event_state state;
	int cpu, oncpu, attach_state, pending_disable, aux_busy;
	bool pending_enable;
	struct perf_buffer *rb;
	struct list_head rb_entry, event_entry;
	struct perf_event *parent, *aux_event;
	struct perf_output_handle *aux_handle;
	struct perf_event_context *ctx;
	atomic_long_t refcount;
	atomic64_t lost_samples;
	struct mutex mmap_mutex;
	atomic_t mmap_count;
};

struct perf_event_header { __u32 type; __u16 misc, size; };
struct perf_sample_data { u64 aux_size; };
struct perf_output_handle {
	struct perf_event *event;
	struct perf_buffer *rb;
	unsigned long wakeup, size;
	u64 aux_flags;
	unsigned long head;
};
struct perf_event_mmap_page { u64 data_tail, aux_head, aux_tail, aux_offset, aux_size; };

#define has_aux(e)		((e)->pmu->setup_aux)
#define is_write_backward(e)	((e)->attr.write_backward)
#define smp_processor_id()	(world.cpu)
#define cpu_to_node(cpu)	((cpu) + 100)
#define this_cpu_ptr(p)		(&(*(p))[world.cpu])
#define module_put(m)		((void)(world.modules -= !!(m)))
#define __module_get(m)		((void)(world.modules += !!(m)))

void perf_event_disable_inatomic(struct perf_event *event);
void perf_event_update_userpage(struct perf_event *event);
int smp_call_function_single(int cpu, void (*func)(void *), void *info, int wait);
int security_perf_event_read(struct perf_event *event);

int perf_output_begin(struct perf_output_handle *out, struct perf_sample_data *data,
		      struct perf_event *event, unsigned int size);
void perf_output_end(struct perf_output_handle *out);
unsigned int __output_copy(struct perf_output_handle *out, const void *from, unsigned long size);
#define perf_output_copy	__output_copy
void perf_event_header__init(struct perf_event_header *header, struct perf_sample_data *data,
			     __u32 type, __u16 misc, __u16 size, struct perf_event *event);
void perf_event__output_id_sample(struct perf_event *event, struct perf_output_handle *out,
				  struct perf_sample_data *data);

/* Tracepoints */

enum { MAP, UNMAP, BEGIN, END, FULL, WAKEUP, TRACEPOINTS };
#define trace_perf_aux_map(...)		((void)world.traced[MAP]++)
#define trace_perf_aux_unmap(...)	((void)world.traced[UNMAP]++)
#define trace_perf_aux_begin(...)	((void)world.traced[BEGIN]++)
#define trace_perf_aux_end(...)		((void)world.traced[END]++)
#define trace_perf_aux_full(...)	((void)world.traced[FULL]++)
#define trace_perf_aux_wakeup(...)	((void)world.traced[WAKEUP]++)

/* kernel/events/internal.h */

#define WORLD_CPUS	4
#define RECORDS_KEPT	64

struct record {
	__u32 type;
	u64 word[3];
	bool with_ids;
	struct perf_event *event;
};

/* What tests set, and what has happened. */
struct world {
	struct task task;
	int cpu, irqs_off, rcu, modules;
	unsigned long memlock;
	bool paranoid, capable, online[WORLD_CPUS];
	/* An NMI, if there is one, and how many of them are to come */
	void (*nmi)(void);
	unsigned int nmis;
	/* What another CPU does once, between two accesses of this one */
	void (*other_cpu)(void);
	/* Allocations: the largest order there is, how many before all of them fail */
	unsigned int order_there;
	long pages_left;
	int node_wanted, signal_after, security;
	bool no_vmalloc;
	/* vmf_insert_pfn_prot(): the address at which it has no memory */
	unsigned long insert_fails_at;

	unsigned int warnings, asked_capable, wakeups, disabled, ipis, lost, detached;
	unsigned int traced[TRACEPOINTS];
	/* Calls of perf_event_init_userpage(), ..._update_time(), ..._update_userpage() */
	unsigned int user_pages, times, updates;
	/* How many records perf_output_begin() refuses although there is room */
	unsigned int records_refused;
	int mapped, unmapped;
	struct record record[RECORDS_KEPT];
	unsigned int records;
	/* Bytes that a sample has got */
	unsigned char sample[1 << 16];
	unsigned long sample_size;
	/* An irq_work or a work that is queued */
	struct irq_work *irq_work;
	struct work_struct *work;
};

extern struct world world;

#include "aux/aux.h"

struct perf_buffer {
	refcount_t refcount;
	int nr_pages, overwrite, paused;
	local_t head;
	atomic_t mmap_count;
	struct list_head event_list;
	struct perf_mlock charge;
	struct perf_aux aux;
	struct perf_event_mmap_page *user_page;
	struct perf_event_mmap_page the_user_page;
};

extern struct perf_cpu_context perf_cpu_context[WORLD_CPUS];

#define data_page_nr(rb)	((rb)->nr_pages)
#define perf_data_size(rb)	((unsigned long)(rb)->nr_pages << PAGE_SHIFT)
#define perf_aux_size(b)	(PAGE_SIZE << (b)->aux.order)

struct perf_buffer *rb_alloc(int nr_pages, long watermark, int cpu, int flags);
struct perf_buffer *ring_buffer_get(struct perf_event *event);
void ring_buffer_put(struct perf_buffer *rb);
void ring_buffer_attach(struct perf_event *event, struct perf_buffer *rb);
void perf_output_wakeup(struct perf_output_handle *handle);
struct page *__perf_mmap_to_page(struct perf_buffer *rb, unsigned long pgoff);
void put_event(struct perf_event *event);
void perf_event_update_time(struct perf_event *event);
void perf_event_init_userpage(struct perf_event *event);
__u32 perf_event_pid(struct perf_event *event, struct task *task);
__u32 perf_event_tid(struct perf_event *event, struct task *task);

static inline struct perf_event *perf_vma_event(const struct vm_area_struct *vma)
{
	return vma->vm_file->private_data;
}

int perf_mmap(struct file *file, struct vm_area_struct *vma);
void perf_aux_stop_contexts(struct perf_buffer *rb);
void perf_mmap_open(struct vm_area_struct *vma);
void perf_mmap_close(struct vm_area_struct *vma);
int perf_mmap_may_split(struct vm_area_struct *vma, unsigned long addr);
void *perf_aux_output_begin(struct perf_output_handle *handle, struct perf_event *event);
void perf_aux_output_end(struct perf_output_handle *handle, unsigned long size);
void perf_aux_output_flag(struct perf_output_handle *handle, u64 flags);
void perf_aux_output_publish(struct perf_output_handle *handle, unsigned long size);
int perf_aux_output_skip(struct perf_output_handle *handle, unsigned long size);
void *perf_get_aux(struct perf_output_handle *handle);
long perf_output_copy_aux(struct perf_output_handle *source, struct perf_output_handle *record,
			  unsigned long from, unsigned long to);
void perf_event_itrace_started(struct perf_event *event);
void perf_report_aux_output_id(struct perf_event *event, u64 id);

/* For tests */

/* All as it is at the beginning. */
void world_begin(void);
/* Pages, references, locks: nothing is left over. */
bool world_clean(void);
long pages_used(void);
/* Run what is queued: an irq_work, which may queue a work; then that. */
void run_irq_work(void);
void run_works(void);
/* An event on a task, of a PMU that the test fills in. */
void event_begin(struct perf_event *event, struct pmu *pmu);

#endif
