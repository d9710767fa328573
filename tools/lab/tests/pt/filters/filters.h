/* SPDX-License-Identifier: GPL-2.0-only */
/* Address filters of Intel PT, from strings to registers: what the files of the test share. */
#ifndef FILTERS_H
#define FILTERS_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "aux_util.h"
#include "points.h"

#define MOST_RANGES	4
#define LOW_END		0x00007fffffffffffUL
#define HIGH_BEGIN	0xffff800000000000UL

/* What one string asks for; of more filters than there are ranges, only the number. */
struct wish {
	unsigned int nr;
	struct {
		enum action { FILTER, STOP, START } action;
		__u64 offset, size;
		/* of the file, 0: none */
		dev_t dev;
		ino_t ino;
	} filter[MOST_RANGES];
};

/* Ranges in the registers of a CPU. */
struct regs {
	bool on;
	/* ADDRn_CFG: 1 filter, 2 stop */
	unsigned int config[MOST_RANGES];
	__u64 from[MOST_RANGES], to[MOST_RANGES];
};

/* A file of five pages, and what of it is mapped for execution, if at is not NULL. */
struct object {
	char path[128];
	dev_t dev;
	ino_t ino;
	char *at;
	__u64 offset, len;
};

#define OBJECT_PAGES	5

/* grammar.c: 0, or -errno as the kernel should say; @ranges of hardware. */
int parse(const char *text, bool per_task, unsigned int ranges, struct wish *wish);
/* What registers should hold. */
void expect_regs(const struct wish *wish, const struct object *object, struct regs *regs);

/* state.c */
unsigned int nr_ranges(void);
void read_regs(int cpu, struct regs *regs);
/* Whether both trace the same; else a line says where they differ. */
bool same_regs(const struct regs *got, const struct regs *want);
/* A trace that runs, in which newest data win; or the end of the program. */
struct aux_event start_trace(pid_t pid, int cpu);
/* 0 or -errno */
int set_filter(const struct aux_event *event, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
struct object make_object(const char *path);
/* Map pages of it. */
void map_object(struct object *object, unsigned int first, unsigned int nr, int prot);
void unmap_object(struct object *object);

/* What is tested. */
void test_errors(void);
void test_random(unsigned int strings);
void test_mapped(const char *directory);
void test_overlay(const char *directory);
void test_exec(const char *directory);
void test_churn(const char *directory);
/* A program for test_churn() that becomes itself again and again. */
void become(int argc, char **argv);

#endif
