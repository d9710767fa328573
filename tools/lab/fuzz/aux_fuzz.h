/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of the fuzzer of AUX areas share. */
#ifndef AUX_FUZZ_H
#define AUX_FUZZ_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "aux_stress.h"

/* How many choices of an operation a step records; all further ones are 0. */
#define FUZZ_CHOICES	24
/* Instead of an operation's number: what was open is closed, and the next program begins. */
#define FUZZ_BEGIN	UINT8_MAX
#define FUZZ_PROGRAMS	64
#define FUZZ_MAX_STEPS	40
#define FUZZ_MAX_TEXT	256
/* The finding that all programs since the last search may have made, not the last list */
#define FUZZ_PAGES_LOST	"pages are lost"
#define FUZZ_TRACES_ON	"an event traces on that is disabled"
/* How much of a mapping is compared, in bytes */
#define FUZZ_PLACE_LEN	65536
#define FUZZ_EDGES	0x40000U

/* An operation with its choices: the same steps do the same. */
struct fuzz_step {
	uint8_t op;
	/* Which of the kernel's fault injection sites is to fail, as for fail-nth; 0: none. */
	uint8_t fail;
	/* How often at most a second thread repeats it beside the first; 0: the first runs it. */
	uint8_t beside;
	uint16_t choices[FUZZ_CHOICES];
};

/* Steps of one program or of several, each from its FUZZ_BEGIN. */
struct fuzz_list {
	struct fuzz_step *steps;
	size_t count, room;
};

/* What the process that runs steps tells the one that waits for it. */
struct fuzz_shared {
	/* One bit for each pair of places that followed each other, by a hash of them */
	uint8_t edges[FUZZ_EDGES / 8];
	unsigned int edges_seen;
	/* Which programs of the list have been at a new edge */
	bool is_new[FUZZ_PROGRAMS];
	/* What is wrong, if anything is */
	char finding[FUZZ_MAX_TEXT];
	struct stress_counts counts;
	atomic_ulong steps_done;
	/* steps within which something was made to fail */
	atomic_ulong failures;
};

/* aux_fuzz_wild.c: operations with any values */
void fuzz_find_pmus(void);
int fuzz_open_any(struct stress_actor *actor);
int fuzz_ioctl_any(struct stress_actor *actor);
int fuzz_set_filter(struct stress_actor *actor);
int fuzz_scribble(struct stress_actor *actor);
int fuzz_map_any(struct stress_actor *actor);
int fuzz_protect(struct stress_actor *actor);
int fuzz_remap_any(struct stress_actor *actor);
int fuzz_unmap_part(struct stress_actor *actor);
int fuzz_advise(struct stress_actor *actor);
int fuzz_pin_pages(struct stress_actor *actor);
int fuzz_duplicate(struct stress_actor *actor);
int fuzz_signal(struct stress_actor *actor);
int fuzz_toggle(struct stress_actor *actor);
int fuzz_task_events(struct stress_actor *actor);
int fuzz_hotplug(struct stress_actor *actor);

/* aux_fuzz_bpf.c: tracepoints of AUX areas, and programs that events and tracepoints run */
#define FUZZ_TRACEPOINTS	6
extern const char *const fuzz_tracepoints[FUZZ_TRACEPOINTS];
void fuzz_find_tracepoints(void);
int fuzz_open_tracepoint(struct stress_actor *actor);
int fuzz_set_program(struct stress_actor *actor);
int fuzz_hook_tracepoint(struct stress_actor *actor);
/* Number OP of the operations: those of aux_stress, then those above; NULL behind them */
const struct stress_op *fuzz_op(unsigned int op);

/* aux_fuzz_steps.c: steps as text, and how programs come about; 0 or -errno */
void fuzz_append(struct fuzz_list *list, const struct fuzz_step *steps, size_t count);
int fuzz_load(struct fuzz_list *list, const char *path);
void fuzz_print(const struct fuzz_list *list, FILE *file);
int fuzz_save(const struct fuzz_list *list, const char *path);
void fuzz_generate(struct fuzz_list *list, const struct fuzz_list *corpus, size_t programs,
		   uint64_t *random);
uint64_t fuzz_random(uint64_t *state, uint64_t below);
/* Where the program ends that begins at a step */
size_t fuzz_end_of(const struct fuzz_list *list, size_t begin);
void fuzz_drop(struct fuzz_list *list, size_t at, size_t count);

/* aux_fuzz_pmu.c */
#define FUZZ_PMUS	5
/* The list ends with a name that is NULL. */
extern const char *const fuzz_pmus[FUZZ_PMUS + 1];
int fuzz_count_maps(void);

/* aux_fuzz_run.c */
void fuzz_prepare(void);
const char *fuzz_run_in_child(const struct fuzz_list *list, struct fuzz_shared *shared);

/* aux_fuzz_stopped.c */
bool fuzz_traces_on(struct stress_actor *actor);

/* aux_fuzz_cover.c: by KCOV, which a kernel may not have */
bool fuzz_cover_exists(void);
bool fuzz_cover_start(void);
unsigned int fuzz_cover_take(struct fuzz_shared *shared);

/* aux_fuzz_check.c: the state of the kernel; a description of what is wrong, or NULL */
void fuzz_check_start(void);
const char *fuzz_check(void);
const char *fuzz_check_memory(void);

/* aux_fuzz_shrink.c */
int fuzz_shrink(const char *directory, unsigned int times, double seconds);

#endif
