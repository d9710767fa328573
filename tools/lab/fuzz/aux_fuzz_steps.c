// SPDX-License-Identifier: GPL-2.0-only
/* The fuzzer of AUX areas: steps as text, new programs, and changes of old ones. */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aux_fuzz.h"

#define MAX_LINE	512
#define MAX_FAIL	40
#define MAX_BESIDE	64

uint64_t fuzz_random(uint64_t *state, uint64_t below)
{
	struct stress_actor actor = { .random = *state };
	uint64_t value = stress_random(&actor, below);

	*state = actor.random;
	return value;
}

void fuzz_append(struct fuzz_list *list, const struct fuzz_step *steps, size_t count)
{
	if (list->count + count > list->room) {
		list->room = 2 * (list->count + count);
		list->steps = realloc(list->steps, list->room * sizeof(*steps));
		if (!list->steps)
			err(2, "steps");
	}
	memcpy(list->steps + list->count, steps, count * sizeof(*steps));
	list->count += count;
}

static const char *name_of(const struct fuzz_step *step)
{
	return step->op == FUZZ_BEGIN ? "begin" : fuzz_op(step->op)->name;
}

static void print(const struct fuzz_step *step, FILE *file)
{
	int count = FUZZ_CHOICES;

	fputs(name_of(step), file);
	while (count && !step->choices[count - 1])
		count--;
	for (int i = 0; i < count; i++)
		fprintf(file, " %u", step->choices[i]);
	if (step->fail)
		fprintf(file, " fail=%u", step->fail);
	if (step->beside)
		fprintf(file, " beside=%u", step->beside);
	fputs("\n", file);
}

void fuzz_print(const struct fuzz_list *list, FILE *file)
{
	for (size_t i = 0; i < list->count; i++)
		print(&list->steps[i], file);
}

/* The file is whole at any time, or not there. */
int fuzz_save(const struct fuzz_list *list, const char *path)
{
	char *fresh;
	FILE *file;
	int ret;

	if (asprintf(&fresh, "%s.new", path) < 0)
		return -ENOMEM;
	file = fopen(fresh, "w");
	/* It is to outlive this machine. */
	if (file) {
		fuzz_print(list, file);
		fflush(file);
		fsync(fileno(file));
	}
	ret = file && !fclose(file) && !rename(fresh, path) ? 0 : -errno;
	free(fresh);
	return ret;
}

static bool parse_op(struct fuzz_step *step, const char *name)
{
	step->op = FUZZ_BEGIN;
	if (!strcmp(name, "begin"))
		return true;
	for (step->op = 0; fuzz_op(step->op); step->op++) {
		if (!strcmp(fuzz_op(step->op)->name, name))
			return true;
	}
	return false;
}

static bool parse(char *line, struct fuzz_step *step)
{
	char *rest = line, *word = strsep(&rest, " ");
	unsigned int count = 0;

	if (!parse_op(step, word))
		return false;
	while ((word = strsep(&rest, " "))) {
		if (!strncmp(word, "beside", 6))
			step->beside = word[6] ? strtoul(word + 7, NULL, 10) : 1;
		else if (!strncmp(word, "fail=", 5))
			step->fail = strtoul(word + 5, NULL, 10);
		else if (count < FUZZ_CHOICES)
			step->choices[count++] = strtoul(word, NULL, 10);
	}
	return true;
}

/* Lines that begin with '#' are comments. */
int fuzz_load(struct fuzz_list *list, const char *path)
{
	FILE *file = fopen(path, "r");
	char line[MAX_LINE];
	int ret = 0;

	if (!file)
		return -errno;
	while (!ret && fgets(line, sizeof(line), file)) {
		struct fuzz_step step = { };

		line[strcspn(line, "\n")] = 0;
		if (!line[0] || line[0] == '#')
			continue;
		if (parse(line, &step))
			fuzz_append(list, &step, 1);
		else
			ret = -EINVAL;
	}
	fclose(file);
	return ret;
}

static uint8_t any_op(uint64_t *random)
{
	unsigned int sum = 0;
	uint64_t at;
	uint8_t op;

	for (op = 0; fuzz_op(op); op++)
		sum += fuzz_op(op)->weight;
	at = fuzz_random(random, sum);
	for (op = 0; at >= fuzz_op(op)->weight; op++)
		at -= fuzz_op(op)->weight;
	return op;
}

/* Small numbers are more frequent: what takes time or memory takes little most of the time. */
static uint16_t any_choice(uint64_t *random)
{
	return fuzz_random(random, 1ULL << (4 * (1 + fuzz_random(random, 4))));
}

/* Once, or again and again. */
static uint8_t any_beside(uint64_t *random)
{
	return fuzz_random(random, 2) ? 1 : MAX_BESIDE;
}

static void set_choices(struct fuzz_step *step, uint64_t *random)
{
	for (int i = 0; i < FUZZ_CHOICES; i++)
		step->choices[i] = any_choice(random);
}

static struct fuzz_step any_step(uint64_t *random)
{
	struct fuzz_step step = { .op = any_op(random) };

	set_choices(&step, random);
	step.beside = fuzz_random(random, 8) ? 0 : any_beside(random);
	if (!fuzz_random(random, 16))
		step.fail = 1 + fuzz_random(random, MAX_FAIL);
	return step;
}

size_t fuzz_end_of(const struct fuzz_list *list, size_t begin)
{
	while (++begin < list->count && list->steps[begin].op != FUZZ_BEGIN)
		;
	return begin;
}

static const struct fuzz_step *any_program(const struct fuzz_list *corpus, size_t *count,
					   uint64_t *random)
{
	size_t at = fuzz_random(random, corpus->count);

	while (at && corpus->steps[at].op != FUZZ_BEGIN)
		at--;
	*count = fuzz_end_of(corpus, at) - at;
	return corpus->steps + at;
}

static void insert(struct fuzz_list *program, size_t at, const struct fuzz_step *steps,
		   size_t count)
{
	size_t behind = program->count - at;

	if (program->count + count > FUZZ_MAX_STEPS)
		return;
	fuzz_append(program, steps, count);
	memmove(program->steps + at + count, program->steps + at, behind * sizeof(*steps));
	memcpy(program->steps + at, steps, count * sizeof(*steps));
}

void fuzz_drop(struct fuzz_list *list, size_t at, size_t count)
{
	list->count -= count;
	memmove(list->steps + at, list->steps + at + count,
		(list->count - at) * sizeof(*list->steps));
}

/* What another program does goes on after this one. */
static void append_other(struct fuzz_list *program, const struct fuzz_list *corpus,
			 uint64_t *random)
{
	const struct fuzz_step *steps;
	size_t count;

	if (!corpus->count)
		return;
	steps = any_program(corpus, &count, random);
	insert(program, program->count, steps + 1, count - 1);
}

/* The first step, FUZZ_BEGIN, stays, but not its choices. */
static void mutate(struct fuzz_list *program, const struct fuzz_list *corpus, uint64_t *random)
{
	size_t at = fuzz_random(random, program->count), other;
	struct fuzz_step step;

	switch (fuzz_random(random, 10)) {
	case 0:
		if (at)
			fuzz_drop(program, at, 1);
		break;
	case 1:
		program->steps[at].beside = at && !program->steps[at].beside ? any_beside(random) :
									       0;
		break;
	case 2:
		program->steps[at].fail = at ? fuzz_random(random, MAX_FAIL) : 0;
		break;
	case 3 ... 5:
		other = fuzz_random(random, FUZZ_CHOICES);
		program->steps[at].choices[other] = any_choice(random);
		break;
	case 6:
		/* The same once more, where it may be something else. */
		step = program->steps[at];
		if (at)
			insert(program, 1 + fuzz_random(random, program->count), &step, 1);
		break;
	case 7:
		append_other(program, corpus, random);
		break;
	default:
		step = any_step(random);
		insert(program, 1 + fuzz_random(random, program->count), &step, 1);
	}
}

static uint8_t op_of(const char *name)
{
	struct fuzz_step step;

	return parse_op(&step, name) ? step.op : 0;
}

/* What may go on while an area is made */
static void append_racer(struct fuzz_list *program, uint64_t *random)
{
	static const char * const racers[] = {
		"toggle", "toggle", "ioctl-any", "enable", "set-output", "unmap", "map-area",
		"close", "task-events", "enter-cgroup",
	};
	struct fuzz_step step = { .beside = MAX_BESIDE };

	step.op = op_of(racers[fuzz_random(random, STRESS_COUNT(racers))]);
	set_choices(&step, random);
	fuzz_append(program, &step, 1);
}

static void append(struct fuzz_list *program, const char *op, uint16_t choice, uint64_t *random)
{
	struct fuzz_step step = { .op = op_of(op) };

	set_choices(&step, random);
	step.choices[0] = choice;
	fuzz_append(program, &step, 1);
}

/* The program runs where the event of stress_open_cgroup() counts: on its CPU, in its group. */
static void follow_cgroup(struct fuzz_list *program, const struct fuzz_step *open, uint64_t *random)
{
	append(program, "pin", open->choices[2], random);
	append(program, "enter-cgroup", open->choices[0] % STRESS_CGROUPS, random);
}

/* An event with a buffer and an area: without, nearly nothing else succeeds. */
static void begin_program(struct fuzz_list *program, uint64_t *random)
{
	static const char * const openers[] = {
		"open", "open", "open-inherited", "open-sampled", "open-paused", "open-any",
		"open-cgroup",
	};
	static const char * const mappers[] = { "map-area", "map-area-overwrite" };
	struct fuzz_step step = { .op = FUZZ_BEGIN };

	set_choices(&step, random);
	fuzz_append(program, &step, 1);
	for (uint64_t i = 0, deep = fuzz_random(random, 4); i < deep; i++) {
		if (i == 2 && fuzz_random(random, 2))
			append_racer(program, random);
		step.op = op_of(i == 0 ? openers[fuzz_random(random, STRESS_COUNT(openers))] :
				i == 1 ? "map-data" : mappers[fuzz_random(random, 2)]);
		set_choices(&step, random);
		fuzz_append(program, &step, 1);
		if (step.op == op_of("open-cgroup"))
			follow_cgroup(program, &step, random);
	}
}

/* Any steps, or a program of the corpus with some changes. */
static void make_program(struct fuzz_list *program, const struct fuzz_list *corpus,
			 uint64_t *random)
{
	size_t count = 4 + fuzz_random(random, 16);

	program->count = 0;
	if (corpus->count && fuzz_random(random, 4)) {
		const struct fuzz_step *steps = any_program(corpus, &count, random);

		fuzz_append(program, steps, count);
		for (unsigned int i = 1 + fuzz_random(random, 4); i; i--)
			mutate(program, corpus, random);
		return;
	}
	begin_program(program, random);
	while (count--) {
		struct fuzz_step step = any_step(random);

		fuzz_append(program, &step, 1);
	}
}

void fuzz_generate(struct fuzz_list *list, const struct fuzz_list *corpus, size_t programs,
		   uint64_t *random)
{
	struct fuzz_list program = { };

	while (programs--) {
		make_program(&program, corpus, random);
		fuzz_append(list, program.steps, program.count);
	}
	free(program.steps);
}
