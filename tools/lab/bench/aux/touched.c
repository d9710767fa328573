// SPDX-License-Identifier: GPL-2.0-only
/*
 * touched.c - TCG plugin that counts what functions of the kernel touch: cache lines, locks that
 * several CPUs take, and interrupts sent to other CPUs.
 *
 * Usage: -plugin touched.so,map=SYSTEM_MAP,out=FILE
 *
 * The guest marks rounds by aux_bench_mark(). What the functions of the row do between two marks,
 * with all that they call, is one round. When QEMU ends, FILE has for each row:
 *
 *	NAME-lines	distinct cache lines of 64 bytes that a round loads from or stores to, but
 *			for those of the stack and of devices; the mean of all rounds without an
 *			interrupt
 *	NAME-locks	words with atomic operations of more than one CPU, such as locks, that
 *			1,000 calls take which have atomic operations
 *	NAME-ipis	interrupts that the local APIC sends to other CPUs, for 1,000 rounds
 *
 * and, behind a #, each line of its last round with the instruction that was the first to touch it.
 */
#include <errno.h>
#include <glib.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <qemu-plugin.h>

#include "aux_bench.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

#define LINE_BYTES	64
#define MOST_LINES	512
#define STACK_BYTES	(16 * 1024)
#define MOST_WORDS	64
#define MOST_CALLS	2
/* The register of the local APIC to which a write sends an interrupt, but for one to the CPU itself */
#define APIC_ICR	0xfee00300
#define ICR_SHORTHAND	(3u << 18)
#define ICR_SELF	(1u << 18)

struct line {
	uint64_t number, insn;
};

/* One for each vCPU; a function of the row that runs on it returns with SP as it is. */
struct vcpu {
	uint64_t inside;
	uint64_t sp;
	bool interrupted;
	/* In this round, and words with atomic operations in this call */
	unsigned int nr_lines, nr_words;
	struct line lines[MOST_LINES];
	uint64_t words[MOST_WORDS];
	struct qemu_plugin_register *rax, *rsp;
};

/* A word on which there are atomic operations: by which CPUs, and in how many calls of the row */
struct word {
	uint64_t cpus, calls;
};

struct row {
	const char *name;
	const char *calls[MOST_CALLS];
	uint64_t addresses[MOST_CALLS];
	/* How many rounds touched N lines, by N */
	uint64_t of_lines[MOST_LINES + 1];
	uint64_t rounds, ipis;
	/* Calls that have atomic operations, and the words of these by address */
	uint64_t atomic_calls;
	GHashTable *words;
	unsigned int nr_last;
	struct line last[MOST_LINES];
};

static struct row rows[AUX_BENCH_ROWS] = {
	[AUX_BENCH_EMPTY] = { "empty", { "perf_aux_output_begin", "perf_aux_output_end" } },
	[AUX_BENCH_DATA] = { "data", { "perf_aux_output_begin", "perf_aux_output_end" } },
	[AUX_BENCH_SAMPLE] = { "sample", { "__perf_sw_event" } },
	[AUX_BENCH_SWITCH] = { "switch", { "__perf_event_task_sched_out",
					   "__perf_event_task_sched_in" } },
	[AUX_BENCH_READ] = { "read", { "perf_ioctl" } },
	[AUX_BENCH_READ_DISABLED] = { "read-disabled", { "perf_ioctl" } },
	[AUX_BENCH_SHARED] = { "shared", { "__perf_event_task_sched_in" } },
};

struct symbol {
	uint64_t address;
	char *name;
};

static GArray *symbols;
static const char *out;
static struct qemu_plugin_scoreboard *vcpus;
/* Held where a row changes, and its table of locks */
static pthread_mutex_t rows_lock = PTHREAD_MUTEX_INITIALIZER;
/* The row of the round, NULL between rounds */
static struct row *current;

static uint64_t read_register(struct qemu_plugin_register *handle)
{
	static __thread GByteArray *bytes;
	uint64_t value = 0;

	if (!bytes)
		bytes = g_byte_array_new();
	g_byte_array_set_size(bytes, 0);
	if (qemu_plugin_read_register(handle, bytes) >= (int)sizeof(value))
		memcpy(&value, bytes->data, sizeof(value));
	return value;
}

static void end_round(struct vcpu *v)
{
	current->rounds++;
	if (v->interrupted)
		return;
	current->of_lines[v->nr_lines]++;
	current->nr_last = v->nr_lines;
	memcpy(current->last, v->lines, sizeof(v->lines));
}

static void on_mark(unsigned int cpu, void *arg)
{
	struct vcpu *v = qemu_plugin_scoreboard_find(vcpus, cpu);
	uint64_t row = read_register(v->rax);

	(void)arg;
	pthread_mutex_lock(&rows_lock);
	if (current)
		end_round(v);
	v->nr_lines = 0;
	v->interrupted = false;
	current = row && row < AUX_BENCH_ROWS ? &rows[row] : NULL;
	pthread_mutex_unlock(&rows_lock);
}

/* Function ARG begins. */
static void on_call(unsigned int cpu, void *arg)
{
	struct vcpu *v = qemu_plugin_scoreboard_find(vcpus, cpu);
	const struct row *row = current;

	if (!row || v->inside)
		return;
	for (int i = 0; i < MOST_CALLS; i++)
		v->inside |= row->addresses[i] == (uintptr_t)arg;
	if (v->inside)
		v->sp = read_register(v->rsp);
	v->nr_words = 0;
}

/* With rows_lock held */
static struct word *word_of(uint64_t address)
{
	struct word *word = g_hash_table_lookup(current->words, (void *)address);

	if (!word) {
		word = g_new0(struct word, 1);
		g_hash_table_insert(current->words, (void *)address, word);
	}
	return word;
}

/* A function returns, while one of the row runs. */
static void on_return(unsigned int cpu, void *arg)
{
	struct vcpu *v = qemu_plugin_scoreboard_find(vcpus, cpu);

	(void)arg;
	if (read_register(v->rsp) != v->sp)
		return;
	v->inside = 0;
	pthread_mutex_lock(&rows_lock);
	if (current && v->nr_words)
		current->atomic_calls++;
	for (unsigned int i = 0; current && i < v->nr_words; i++)
		word_of(v->words[i])->calls++;
	pthread_mutex_unlock(&rows_lock);
}

static void note_line(struct vcpu *v, uint64_t number, uint64_t insn)
{
	unsigned int i = 0;

	while (i < v->nr_lines && v->lines[i].number != number)
		i++;
	if (i == v->nr_lines && v->nr_lines < MOST_LINES)
		v->lines[v->nr_lines++] = (struct line) { number, insn };
}

static void note_word(struct vcpu *v, uint64_t address)
{
	unsigned int i = 0;

	while (i < v->nr_words && v->words[i] != address)
		i++;
	if (i == v->nr_words && v->nr_words < MOST_WORDS)
		v->words[v->nr_words++] = address;
}

static void note_cpu(unsigned int cpu, uint64_t address)
{
	pthread_mutex_lock(&rows_lock);
	if (current)
		word_of(address)->cpus |= 1ull << cpu;
	pthread_mutex_unlock(&rows_lock);
}

static bool is_device(qemu_plugin_meminfo_t info, uint64_t address, uint64_t *place)
{
	struct qemu_plugin_hwaddr *found = qemu_plugin_get_hwaddr(info, address);

	*place = found ? qemu_plugin_hwaddr_phys_addr(found) : 0;
	return found && qemu_plugin_hwaddr_is_io(found);
}

static void note_ipi(qemu_plugin_meminfo_t info)
{
	if ((qemu_plugin_mem_get_value(info).data.u32 & ICR_SHORTHAND) == ICR_SELF)
		return;
	pthread_mutex_lock(&rows_lock);
	if (current)
		current->ipis++;
	pthread_mutex_unlock(&rows_lock);
}

/* An instruction, and whether it is atomic: addresses of the kernel have the highest bit set. */
static void *pack(uint64_t insn, bool atomic)
{
	return (void *)(insn << 1 | atomic);
}

static uint64_t insn_of(void *packed)
{
	return (uintptr_t)packed >> 1 | 1ull << 63;
}

static bool is_atomic(void *packed)
{
	return (uintptr_t)packed & 1;
}

static bool is_on_stack(const struct vcpu *v, uint64_t address)
{
	return address / STACK_BYTES == v->sp / STACK_BYTES;
}

static void on_access(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address, void *packed)
{
	struct vcpu *v = qemu_plugin_scoreboard_find(vcpus, cpu);
	bool store = qemu_plugin_mem_is_store(info), atomic = store && is_atomic(packed);
	uint64_t place, last = address + (1u << qemu_plugin_mem_size_shift(info)) - 1;

	if (!current)
		return;
	if (atomic)
		note_cpu(cpu, address);
	if (!v->inside || is_on_stack(v, address))
		return;
	/* An interrupt has a stack of its own, and is no part of the function. */
	if (!is_on_stack(v, read_register(v->rsp))) {
		v->interrupted = true;
		return;
	}
	if (is_device(info, address, &place)) {
		if (store && place == APIC_ICR)
			note_ipi(info);
		return;
	}
	if (atomic)
		note_word(v, address);
	for (uint64_t line = address / LINE_BYTES; line <= last / LINE_BYTES; line++)
		note_line(v, line, insn_of(packed));
}

static bool is_mark(const uint8_t *bytes, size_t size)
{
	static const uint8_t nopl_rax[] = { 0x0f, 0x1f, 0x80 };
	uint32_t mark = AUX_BENCH_MARK;

	return size == 7 && !memcmp(bytes, nopl_rax, 3) && !memcmp(bytes + 3, &mark, 4);
}

/* LOCK, or XCHG, which takes no prefix to be atomic */
static bool has_lock(const uint8_t *bytes, size_t size)
{
	size_t i = 0;

	while (i + 1 < size && (bytes[i] == 0x66 || bytes[i] == 0x65 || bytes[i] == 0x3e))
		i++;
	if (bytes[i] == 0xf0)
		return true;
	if (i + 1 < size && (bytes[i] & 0xf0) == 0x40)
		i++;
	return bytes[i] == 0x86 || bytes[i] == 0x87;
}

static bool is_return(const uint8_t *bytes, size_t size)
{
	return size == 1 && bytes[0] == 0xc3;
}

static void watch(struct qemu_plugin_insn *insn)
{
	qemu_plugin_u64 inside = qemu_plugin_scoreboard_u64_in_struct(vcpus, struct vcpu, inside);
	uint64_t address = qemu_plugin_insn_vaddr(insn);
	uint8_t bytes[16] = { };
	size_t size = qemu_plugin_insn_data(insn, bytes, sizeof(bytes));

	if (is_mark(bytes, size))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark, QEMU_PLUGIN_CB_R_REGS, NULL);
	if (!(address >> 63))
		return;
	if (is_return(bytes, size))
		qemu_plugin_register_vcpu_insn_exec_cond_cb(insn, on_return, QEMU_PLUGIN_CB_R_REGS,
							    QEMU_PLUGIN_COND_NE, inside, 0, NULL);
	qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_R_REGS,
					 QEMU_PLUGIN_MEM_RW, pack(address, has_lock(bytes, size)));
}

static bool is_called(uint64_t address)
{
	for (int i = 0; i < AUX_BENCH_ROWS * MOST_CALLS; i++)
		if (rows[i / MOST_CALLS].addresses[i % MOST_CALLS] == address)
			return true;
	return false;
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	uint64_t address = qemu_plugin_tb_vaddr(tb);

	(void)id;
	if (address && is_called(address))
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_call, QEMU_PLUGIN_CB_R_REGS,
						     (void *)address);
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++)
		watch(qemu_plugin_tb_get_insn(tb, i));
}

static void on_vcpu_init(qemu_plugin_id_t id, unsigned int cpu)
{
	struct vcpu *v = qemu_plugin_scoreboard_find(vcpus, cpu);
	GArray *registers = qemu_plugin_get_registers();

	(void)id;
	for (guint i = 0; i < registers->len; i++) {
		qemu_plugin_reg_descriptor *d;

		d = &g_array_index(registers, qemu_plugin_reg_descriptor, i);
		if (!strcmp(d->name, "rax"))
			v->rax = d->handle;
		if (!strcmp(d->name, "rsp"))
			v->rsp = d->handle;
	}
	g_array_free(registers, TRUE);
	if (!v->rax || !v->rsp) {
		fprintf(stderr, "touched: QEMU shows no registers to plugins\n");
		exit(1);
	}
}

static void name_calls(const struct symbol *symbol)
{
	for (int i = 0; i < AUX_BENCH_ROWS * MOST_CALLS; i++) {
		struct row *row = &rows[i / MOST_CALLS];

		if (!g_strcmp0(row->calls[i % MOST_CALLS], symbol->name))
			row->addresses[i % MOST_CALLS] = symbol->address;
	}
}

/* Whether each function of a row is in the map */
static bool are_named(void)
{
	for (int i = 0; i < AUX_BENCH_ROWS * MOST_CALLS; i++) {
		const struct row *row = &rows[i / MOST_CALLS];

		if (row->calls[i % MOST_CALLS] && !row->addresses[i % MOST_CALLS]) {
			fprintf(stderr, "touched: no %s in map=\n", row->calls[i % MOST_CALLS]);
			return false;
		}
	}
	return true;
}

static bool read_map(const char *path)
{
	FILE *file = fopen(path, "r");
	struct symbol symbol;
	char type, name[256];

	symbols = g_array_new(FALSE, FALSE, sizeof(symbol));
	while (file && fscanf(file, "%lx %c %255s", &symbol.address, &type, name) == 3) {
		symbol.name = g_strdup(name);
		g_array_append_val(symbols, symbol);
		name_calls(&symbol);
	}
	if (file)
		fclose(file);
	return are_named();
}

static const struct symbol *symbol_of(uint64_t address)
{
	const struct symbol *found = NULL;

	for (guint i = 0; i < symbols->len; i++) {
		const struct symbol *symbol = &g_array_index(symbols, struct symbol, i);

		if (symbol->address > address)
			break;
		found = symbol;
	}
	return found;
}

/* of the rounds without an interrupt */
static double mean_lines(const struct row *row)
{
	uint64_t rounds = 0, sum = 0;

	for (unsigned int lines = 0; lines <= MOST_LINES; lines++) {
		rounds += row->of_lines[lines];
		sum += row->of_lines[lines] * lines;
	}
	return (double)sum / rounds;
}

/* The words of more than one CPU, for 1,000 calls that have atomic operations */
static double shared_words(const struct row *row)
{
	struct word *word;
	GHashTableIter iter;
	uint64_t calls = 0;

	g_hash_table_iter_init(&iter, row->words);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&word))
		if (word->cpus & (word->cpus - 1))
			calls += word->calls;
	return 1000.0 * calls / row->atomic_calls;
}

static void write_row(FILE *file, const struct row *row)
{
	fprintf(file, "%s-lines %.3f\n", row->name, mean_lines(row));
	/* What had no such call has no figure, not a good one. */
	if (row->atomic_calls)
		fprintf(file, "%s-locks %.3f\n", row->name, shared_words(row));
	fprintf(file, "%s-ipis %.3f\n", row->name, 1000.0 * row->ipis / row->rounds);
	for (unsigned int i = 0; i < row->nr_last; i++) {
		const struct symbol *by = symbol_of(row->last[i].insn);

		fprintf(file, "# %s %lx %s+0x%lx\n", row->name, row->last[i].number * LINE_BYTES,
			by->name, row->last[i].insn - by->address);
	}
}

static void on_exit_all(qemu_plugin_id_t id, void *arg)
{
	FILE *file = fopen(out, "w");

	(void)id;
	(void)arg;
	for (int i = 0; file && i < AUX_BENCH_ROWS; i++)
		if (rows[i].rounds)
			write_row(file, &rows[i]);
	if (!file || fclose(file))
		fprintf(stderr, "touched: out=%s: %s\n", out, strerror(errno));
}

QEMU_PLUGIN_EXPORT
int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	const char *map = "";

	(void)info;
	for (int i = 0; i < argc; i++) {
		if (g_str_has_prefix(argv[i], "map="))
			map = argv[i] + 4;
		else if (g_str_has_prefix(argv[i], "out="))
			out = g_strdup(argv[i] + 4);
	}
	if (!out || !read_map(map)) {
		fprintf(stderr, "touched: needs out=FILE and map=SYSTEM_MAP\n");
		return -1;
	}
	for (int i = 0; i < AUX_BENCH_ROWS; i++)
		rows[i].words = g_hash_table_new(NULL, NULL);
	vcpus = qemu_plugin_scoreboard_new(sizeof(struct vcpu));
	qemu_plugin_register_vcpu_init_cb(id, on_vcpu_init);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	qemu_plugin_register_atexit_cb(id, on_exit_all, NULL);
	return 0;
}
