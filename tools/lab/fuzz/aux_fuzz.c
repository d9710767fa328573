// SPDX-License-Identifier: GPL-2.0-only
/*
 * A fuzzer of AUX areas: aux_fuzz run DIRECTORY SECONDS [SEED [OPERATIONS]]
 *
 * Programs are lists of steps, each an operation of aux_stress and the choices that it
 * makes. A program that has been where none was before, by KCOV, is kept in
 * DIRECTORY/corpus, and changed to make the next ones. Without KCOV, those that are there
 * are changed, and none is kept.
 *
 * All that runs is in a file before it runs, DIRECTORY/batch. If the kernel complains, if a
 * counter is not what it was, or if an event goes on that is disabled, DIRECTORY/finding
 * says what, and DIRECTORY/best has the steps so far, for
 *
 *	aux_fuzz shrink DIRECTORY [TIMES [SECONDS]]	steps that do the same and are fewer
 *	aux_fuzz replay FILE [TIMES]		run a list of steps
 *	aux_fuzz write FILE TARGET.c [TIMES]	run it until it does harm, and write down its
 *						system calls
 *	aux_fuzz join TARGET.c FINDING		make a program in C of them
 *	aux_fuzz watch PROGRAM [ARGUMENT...]	run that, and look at the kernel then
 *	aux_fuzz list SEED PROGRAMS		print the programs of a run without a corpus
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aux_fuzz.h"
#include "aux_util.h"

/* Lists of programs from one search for lost memory to the next */
#define LISTS		64
#define MAX_CORPUS	4096
#define MAX_OLD		512

struct fuzz {
	struct fuzz_shared *shared;
	/* programs that were at new edges, and how many of them have run since the start */
	struct fuzz_list corpus;
	size_t corpus_run, programs_kept;
	/* what runs now, and what ran since memory was looked at */
	struct fuzz_list list, since;
	uint64_t random;
	unsigned long programs, operations;
};

static unsigned long operations(const struct fuzz_shared *shared)
{
	unsigned long sum = 0;

	for (unsigned int op = 0; op < STRESS_MAX_OPS; op++) {
		for (int i = 0; i < STRESS_ERRNOS; i++)
			sum += shared->counts.of[op][i];
	}
	return sum;
}

static struct fuzz_shared *share(void)
{
	struct fuzz_shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
					  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED)
		err(2, "shared memory");
	return shared;
}

/* A file's name follows from what it has, so that equal programs are one file. */
static void save_program(const struct fuzz_list *program)
{
	uint64_t hash = 0xcbf29ce484222325;
	const uint8_t *bytes = (const uint8_t *)program->steps;
	char path[64];

	for (size_t i = 0; i < program->count * sizeof(*program->steps); i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3;
	snprintf(path, sizeof(path), "corpus/%016llx", (unsigned long long)hash);
	if (fuzz_save(program, path))
		warn("%s", path);
}

/* The programs of the list that have been at new edges. */
static void keep_new(struct fuzz *fuzz)
{
	struct fuzz_list program = { };
	unsigned int number = 0;

	for (size_t begin = 0, end; begin < fuzz->list.count; begin = end, number++) {
		end = fuzz_end_of(&fuzz->list, begin);
		if (!fuzz->shared->is_new[number] || fuzz->programs_kept >= MAX_CORPUS)
			continue;
		program.count = 0;
		fuzz_append(&program, fuzz->list.steps + begin, end - begin);
		fuzz_append(&fuzz->corpus, program.steps, program.count);
		fuzz->programs_kept++;
		save_program(&program);
	}
	memset(fuzz->shared->is_new, 0, sizeof(fuzz->shared->is_new));
	free(program.steps);
}

static int is_program(const struct dirent *entry)
{
	return !strchr(entry->d_name, '.');
}

static void load_corpus(struct fuzz_list *corpus, uint64_t *random)
{
	struct dirent **entries;
	int count = scandir("corpus", &entries, is_program, alphasort);
	char path[300];

	/* If there are many, some of them: they run before others do. */
	for (int i = 0; i < count; i++) {
		if (fuzz_random(random, count) >= MAX_OLD) {
			free(entries[i]);
			continue;
		}
		snprintf(path, sizeof(path), "corpus/%s", entries[i]->d_name);
		if (fuzz_load(corpus, path))
			warnx("%s is not of this fuzzer", path);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

/* The old programs run first, as edges are of this boot. */
static void next_list(struct fuzz *fuzz, const struct fuzz_list *old)
{
	size_t begin = fuzz->corpus_run, programs = 0;

	fuzz->list.count = 0;
	while (fuzz->corpus_run < old->count) {
		programs += old->steps[fuzz->corpus_run].op == FUZZ_BEGIN;
		if (programs > FUZZ_PROGRAMS)
			break;
		fuzz->corpus_run++;
	}
	if (fuzz->corpus_run > begin)
		fuzz_append(&fuzz->list, old->steps + begin, fuzz->corpus_run - begin);
	else
		fuzz_generate(&fuzz->list, &fuzz->corpus, FUZZ_PROGRAMS, &fuzz->random);
}

static int report_finding(struct fuzz *fuzz, const char *found)
{
	FILE *file = fopen("finding", "w");
	bool long_ago = !strcmp(found, FUZZ_PAGES_LOST);

	printf("FOUND: %s\n", found);
	if (file) {
		fprintf(file, "%s\n", found);
		fclose(file);
	}
	return fuzz_save(long_ago ? &fuzz->since : &fuzz->list, "best") ? 2 : 1;
}

static void report(const struct fuzz *fuzz, double seconds)
{
	const struct stress_counts *counts = &fuzz->shared->counts;

	for (unsigned int op = 0; fuzz_op(op); op++) {
		printf("%-20s %8lu", fuzz_op(op)->name, counts->of[op][0]);
		for (int i = 1; i < STRESS_ERRNOS; i++) {
			if (counts->of[op][i])
				printf("  %s %lu", strerrorname_np(i), counts->of[op][i]);
		}
		printf("\n");
	}
	printf("%-20s %8lu\n", "made-to-fail", fuzz->shared->failures);
	printf("%lu operations, %lu programs, %u edges, %zu programs kept, %.0f s\n",
	       operations(fuzz->shared), fuzz->programs, fuzz->shared->edges_seen,
	       fuzz->programs_kept, seconds);
}

static const char *run_list(struct fuzz *fuzz)
{
	const char *found;

	if (fuzz_save(&fuzz->list, "batch"))
		err(2, "batch");
	fuzz_append(&fuzz->since, fuzz->list.steps, fuzz->list.count);
	found = fuzz_run_in_child(&fuzz->list, fuzz->shared);
	found = found ?: fuzz_check();
	for (size_t i = 0; i < fuzz->list.count; i++)
		fuzz->programs += fuzz->list.steps[i].op == FUZZ_BEGIN;
	return found;
}

/* Else each operation fails, which looks as if nothing were wrong. */
static void check_machine(void)
{
	if (geteuid())
		errx(2, "only root may do all that it tries: run it as root");
	for (int i = 0; fuzz_pmus[i]; i++) {
		aux_use(fuzz_pmus[i]);
		if (!aux_missing())
			return;
	}
	errx(2, "no AUX event can be opened: 'modprobe perf_aux_synth' brings a PMU for some");
}

static int run(double seconds, uint64_t seed, unsigned long most)
{
	struct fuzz fuzz = { .shared = share(), .random = seed };
	double begin = aux_seconds();
	struct fuzz_list old = { };
	const char *found = NULL;

	load_corpus(&old, &fuzz.random);
	if (!fuzz_cover_exists()) {
		printf("this kernel has no KCOV, so nothing guides the fuzzer\n");
		fuzz_append(&fuzz.corpus, old.steps, old.count);
	}
	for (unsigned int i = 0; !found && aux_seconds() < begin + seconds &&
	     (!most || operations(fuzz.shared) < most); i++) {
		next_list(&fuzz, &old);
		found = run_list(&fuzz);
		keep_new(&fuzz);
		/* The first time takes memory for good: stacks, caches, tables. */
		if (found || i % LISTS != LISTS / 8)
			continue;
		found = fuzz_check_memory();
		if (!found)
			fuzz.since.count = 0;
	}
	found = found ?: fuzz_check_memory();
	report(&fuzz, aux_seconds() - begin);
	return found ? report_finding(&fuzz, found) : 0;
}

static int say_found(const char *found)
{
	printf("%s%s\n", found ? "FOUND: " : "nothing was found", found ?: "");
	return found ? 1 : 0;
}

/* Run the steps of @path until they do harm, @times times at most. */
static int replay(const char *path, unsigned int times)
{
	struct fuzz_shared *shared = share();
	struct fuzz_list list = { };
	const char *found = NULL;

	check_machine();
	if (fuzz_load(&list, path))
		errx(2, "%s: no list of steps", path);
	for (unsigned int i = 0; i < times && !found; i++) {
		found = fuzz_run_in_child(&list, shared);
		found = found ?: fuzz_check();
	}
	return say_found(found);
}

/* Another program, by what the fuzzer finds in the kernel then */
static int watch(char **program)
{
	const char *found;
	int status;
	pid_t pid;

	fuzz_check_memory();
	pid = fork();
	if (!pid) {
		execv(program[0], program);
		err(127, "%s", program[0]);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		err(2, "%s", program[0]);
	if (status)
		printf("%s ends with status 0x%x\n", program[0], status);
	found = fuzz_check();
	return say_found(found ?: fuzz_check_memory());
}

static int list_programs(uint64_t seed, size_t programs)
{
	struct fuzz_list list = { }, none = { };

	fuzz_generate(&list, &none, programs, &seed);
	fuzz_print(&list, stdout);
	return 0;
}

static int refuse(void)
{
	fprintf(stderr, "usage: aux_fuzz run DIRECTORY SECONDS [SEED [OPERATIONS]]\n"
		"       aux_fuzz shrink DIRECTORY [TIMES [SECONDS]] | replay FILE [TIMES]\n"
		"       aux_fuzz list SEED PROGRAMS | watch PROGRAM [ARGUMENT...]\n");
	return 2;
}

static unsigned long number_of(char **argv, int at, unsigned long otherwise)
{
	for (int i = 0; i <= at; i++) {
		if (!argv[i])
			return otherwise;
	}
	return strtoul(argv[at], NULL, 0);
}

/*
 * Where memory is to fail, the kernel ends a thread whose struct rseq it cannot write. The C
 * library registers none for a program that begins with this in its environment.
 */
static void do_without_rseq(char **argv)
{
	const char *tunable = "glibc.pthread.rseq=0", *old = getenv("GLIBC_TUNABLES");

	if (old && !strcmp(old, tunable))
		return;
	setenv("GLIBC_TUNABLES", tunable, 1);
	execv("/proc/self/exe", argv);
	err(2, "exec");
}

int main(int argc, char **argv)
{
	const char *verb = argc > 2 ? argv[1] : "";

	if (argc == 2 && !strcmp(argv[1], "--executed")) {
		stress_executed();
		return 0;
	}
	if (!strcmp(verb, "list") && argc > 3)
		return list_programs(number_of(argv, 2, 0), number_of(argv, 3, 1));
	do_without_rseq(argv);
	fuzz_prepare();
	fuzz_check_start();
	if (!strcmp(verb, "shrink"))
		return fuzz_shrink(argv[2], number_of(argv, 3, 1), number_of(argv, 4, 600));
	if (!strcmp(verb, "replay"))
		return replay(argv[2], number_of(argv, 3, 1));
	if (!strcmp(verb, "watch"))
		return watch(argv + 2);
	if (strcmp(verb, "run") || argc < 4)
		return refuse();
	check_machine();
	if (chdir(argv[2]) || (mkdir("corpus", 0777) && errno != EEXIST))
		err(2, "%s", argv[2]);
	return run(strtod(argv[3], NULL), number_of(argv, 4, 1), number_of(argv, 5, 0));
}
