// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * oracle.c - TCG plugin that writes down which instructions each vCPU executes while it is traced.
 *
 * Usage: -plugin oracle.so,out=DIR,map=SYSTEM_MAP[,bts=on][,user=FIRST-LAST]
 *
 * Traced is what Intel PT traces; with bts=on, what branch trace store records. With user=, the
 * oracle does not ask: it writes down all user code at these addresses, and nothing else. They
 * must be of one process that stays on its CPU.
 *
 * The cost is one call for a block while traced, one inline test for a block otherwise, and one
 * inline store for an instruction: the index of the instruction now executing, which tells
 * where control left a block before its end. The kernel's entry points (found in SYSTEM_MAP)
 * are looked at more closely: the return address on their stack tells whether the last
 * instruction was completed (the address is behind it) or not (the address is its own).
 */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <qemu-plugin.h>

#include "oracle-format.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

#define MAX_VCPUS		64
#define LOG_WORDS		(1u << 18)
#define MAX_INSN_BYTES		15
/* alignment of the stubs that the IDT's interrupt vectors point to */
#define STUB_ALIGN		8

/* What an exception pushes at most, but for SS: error code, RIP, CS, RFLAGS, RSP. */
#define FRAME_WORDS		5
/* RSP is so far from RIP. */
#define FRAME_RSP		3
/* An NMI in a machine check in an interrupt in a page fault is the worst. */
#define MAX_NESTED		4
#define SELECTOR_MAX		0xffff
#define SELECTOR_MIN		0x8

/* The general registers in the order of the instruction encoding, others behind them. */
enum { REG_RAX, REG_RCX, REG_RDX, REG_RSP = 4, REG_RIP = 16, REG_CR3, NR_REGS };

struct block {
	struct oracle_block head;
	bool written;
	enum oracle_entry_class entry;
	struct oracle_insn insns[];
};

struct wrmsr_site {
	struct block *block;
	uint32_t index;
	/* for MOV to CR3: which register it is read from */
	uint8_t reg;
};

/* One for each vCPU, in a scoreboard so that inline code can reach the first two. */
struct vcpu {
	uint64_t index;
	uint64_t tracing;
	/* with user=: the block before is in the log, and how it ended is not yet */
	uint64_t open;
	struct block *current;
	uint32_t *log;
	uint32_t used;
	int fd;
	struct qemu_plugin_register *gpr[NR_REGS];
};

struct stub_range {
	uint64_t start, end;
	enum oracle_entry_class entry;
};

static struct qemu_plugin_scoreboard *vcpus;
static const char *out_dir;
static bool by_bts;
/* with user= */
static uint64_t user_first, user_last;
static GHashTable *entries;
static struct stub_range stubs[4];
static unsigned int nr_stubs;
static pthread_mutex_t blocks_lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *blocks_file;
static uint32_t next_id;
static atomic_uint_least64_t sequence;

static const char *const gpr_names[NR_REGS] = {
	"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
	"rip", "cr3",
};

_Noreturn static void fail(const char *what, const char *which)
{
	fprintf(stderr, "oracle: %s: %s (%s)\n", which, what, strerror(errno));
	exit(1);
}

static struct vcpu *get_vcpu(unsigned int index)
{
	return qemu_plugin_scoreboard_find(vcpus, index);
}

static void flush_log(struct vcpu *v)
{
	const char *p = (const char *)v->log;
	size_t left = v->used * sizeof(uint32_t);

	while (left) {
		ssize_t n = write(v->fd, p, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			fail("cannot write the log", out_dir);
		p += n;
		left -= n;
	}
	v->used = 0;
}

static inline void put(struct vcpu *v, uint32_t word)
{
	v->log[v->used++] = word;
	if (v->used == LOG_WORDS)
		flush_log(v);
}

static void put64(struct vcpu *v, uint64_t value)
{
	put(v, (uint32_t)value);
	put(v, value >> 32);
}

static uint64_t read_gpr(struct vcpu *v, unsigned int reg)
{
	static __thread GByteArray *buf;
	uint64_t value = 0;

	if (!buf)
		buf = g_byte_array_new();
	g_byte_array_set_size(buf, 0);
	if (qemu_plugin_read_register(v->gpr[reg], buf) >= (int)sizeof(value))
		memcpy(&value, buf->data, sizeof(value));
	return value;
}

/* A block gets its id and its place in the table when it is first logged. */
static void write_block(struct block *block)
{
	pthread_mutex_lock(&blocks_lock);
	if (!block->written) {
		block->head.id = next_id++;
		fwrite(&block->head, sizeof(block->head), 1, blocks_file);
		fwrite(block->insns, sizeof(block->insns[0]), block->head.nr_insns, blocks_file);
		if (ferror(blocks_file))
			fail("cannot write the blocks", out_dir);
		__atomic_store_n(&block->written, true, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&blocks_lock);
}

static void close_current(struct vcpu *v)
{
	if (v->current && v->index + 1 != v->current->head.nr_insns)
		put(v, ORACLE_PARTIAL | (uint32_t)v->index);
}

static void on_block(unsigned int vcpu_index, void *arg)
{
	struct vcpu *v = get_vcpu(vcpu_index);
	struct block *block = arg;

	if (!__atomic_load_n(&block->written, __ATOMIC_ACQUIRE))
		write_block(block);
	close_current(v);
	put(v, block->head.id);
	v->current = block;
}

/*
 * QEMU keeps one translation for a physical page wherever it is mapped (CF_PCREL), so the
 * addresses seen at translation are one of several. The kernel's text has only one.
 */
static void on_user_block(unsigned int vcpu_index, void *arg)
{
	struct vcpu *v = get_vcpu(vcpu_index);
	struct block *block = arg;
	uint64_t delta = read_gpr(v, REG_RIP) - block->insns[0].vaddr;

	on_block(vcpu_index, arg);
	if (delta) {
		put(v, ORACLE_MOVED);
		put64(v, delta);
	}
}

struct frame {
	uint64_t rip, rsp;
};

/*
 * The frame is either RIP, CS, ... or error code, RIP, CS, ... A selector is a small number that
 * no return address can be, so the position of CS tells which.
 */
static bool read_frame(uint64_t at, struct frame *frame)
{
	static __thread GByteArray *buf;
	uint64_t word[FRAME_WORDS], *rip = word;

	if (!buf)
		buf = g_byte_array_new();
	if (!qemu_plugin_read_memory_vaddr(at, buf, sizeof(word)))
		return false;
	memcpy(word, buf->data, sizeof(word));
	if (word[1] < SELECTOR_MIN || word[1] > SELECTOR_MAX)
		rip++;
	frame->rip = rip[0];
	frame->rsp = rip[FRAME_RSP];
	return true;
}

static bool is_entry(uint64_t vaddr, enum oracle_entry_class *entry)
{
	gpointer value;
	unsigned int i;

	if (g_hash_table_lookup_extended(entries, &vaddr, NULL, &value)) {
		*entry = GPOINTER_TO_UINT(value);
		return true;
	}
	for (i = 0; i < nr_stubs; i++) {
		/* Stubs have two instructions; only the first is an entry. */
		if (vaddr >= stubs[i].start && vaddr < stubs[i].end && !(vaddr % STUB_ALIGN)) {
			*entry = stubs[i].entry;
			return true;
		}
	}
	return false;
}

/*
 * Where the interrupted code goes on, and what interrupted it. An NMI may come before the first
 * instruction of an exception's handler, which then was not seen: the exception's own frame lies
 * where the NMI's says that the stack was. The packet at an exception may be the one that
 * fills a region, so this is common where regions are small.
 */
static bool find_return(struct vcpu *v, enum oracle_entry_class *entry, uint64_t *rip)
{
	struct frame frame;
	unsigned int i;

	if (!read_frame(read_gpr(v, REG_RSP), &frame))
		return false;
	for (i = 0; i < MAX_NESTED && is_entry(frame.rip, entry); i++)
		if (!read_frame(frame.rsp, &frame))
			return false;
	*rip = frame.rip;
	return true;
}

static void put_entry(struct vcpu *v, enum oracle_entry_class entry)
{
	uint64_t rip;

	if (!v->current || !find_return(v, &entry, &rip))
		return;
	close_current(v);
	put(v, ORACLE_ENTRY | entry);
	put64(v, rip);
	v->current = NULL;
}

static void on_entry(unsigned int vcpu_index, void *arg)
{
	struct block *block = arg;

	put_entry(get_vcpu(vcpu_index), block->entry);
	on_block(vcpu_index, arg);
}

/* With user=: a block of the range. */
static void on_inside(unsigned int vcpu_index, void *arg)
{
	on_user_block(vcpu_index, arg);
	get_vcpu(vcpu_index)->open = 1;
}

/* With user=: the first block behind one of the range that is not in it. */
static void on_outside(unsigned int vcpu_index, void *arg)
{
	struct vcpu *v = get_vcpu(vcpu_index);

	(void)arg;
	close_current(v);
	v->current = NULL;
	v->open = 0;
}

/* The same where it is an entry of the kernel. */
static void on_outside_entry(unsigned int vcpu_index, void *arg)
{
	struct block *block = arg;

	put_entry(get_vcpu(vcpu_index), block->entry);
	on_outside(vcpu_index, arg);
}

/* Branch trace store as a trace of everything, whatever it records; false: no matter of its. */
static bool as_trace_msr(uint32_t *msr, uint64_t *value)
{
	bool on = (*value & DEBUGCTL_TR) && (*value & DEBUGCTL_BTS);

	if (*msr != MSR_DEBUGCTL)
		return false;
	*msr = MSR_RTIT_CTL;
	*value = on ? RTIT_CTL_TRACEEN | RTIT_CTL_OS | RTIT_CTL_USR | RTIT_CTL_BRANCHEN : 0;
	return true;
}

static void on_wrmsr(unsigned int vcpu_index, void *arg)
{
	struct vcpu *v = get_vcpu(vcpu_index);
	const struct wrmsr_site *site = arg;
	uint32_t msr = read_gpr(v, REG_RCX);
	uint64_t value;

	value = (read_gpr(v, REG_RDX) << 32) | (uint32_t)read_gpr(v, REG_RAX);
	if (by_bts && !as_trace_msr(&msr, &value))
		return;
	if (msr < MSR_RTIT_FIRST || msr > MSR_RTIT_LAST)
		return;
	put(v, ORACLE_MSR | site->index);
	put(v, msr);
	put64(v, atomic_fetch_add(&sequence, 1));
	put64(v, value);
	put(v, v->current ? v->current->head.id : ORACLE_ARG_MASK);
	if (msr != MSR_RTIT_CTL)
		return;
	v->tracing = !!(value & RTIT_CTL_TRACEEN);
	if (v->tracing) {
		put(v, ORACLE_CR3 | ORACLE_ARG_MASK);
		put64(v, read_gpr(v, REG_CR3));
	} else {
		v->current = NULL;
	}
}

static void on_cr3(unsigned int vcpu_index, void *arg)
{
	struct vcpu *v = get_vcpu(vcpu_index);
	const struct wrmsr_site *site = arg;

	put(v, ORACLE_CR3 | site->index);
	put64(v, read_gpr(v, site->reg));
}

static bool is_legacy_prefix(uint8_t byte)
{
	return byte == 0x66 || byte == 0x67 || byte == 0xf0 || byte == 0xf2 || byte == 0xf3 ||
	       byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0x26 || byte == 0x64 ||
	       byte == 0x65;
}

static bool is_string_op(uint8_t op)
{
	return (op >= 0xa4 && op <= 0xa7) || (op >= 0xaa && op <= 0xaf) ||
	       (op >= 0x6c && op <= 0x6f);
}

static bool is_jcc_op(uint8_t op, uint8_t second)
{
	return (op >= 0x70 && op <= 0x7f) || (op >= 0xe0 && op <= 0xe3) ||
	       (op == 0x0f && second >= 0x80 && second <= 0x8f);
}

static bool is_branch_op(uint8_t op, uint8_t second, uint8_t modrm)
{
	uint8_t reg = (modrm >> 3) & 7;

	if ((op >= 0x70 && op <= 0x7f) || (op >= 0xe0 && op <= 0xe3) ||
	    (op >= 0xc8 && op <= 0xcf && op != 0xc8 && op != 0xc9))
		return true;
	switch (op) {
	case 0x9a: case 0xc2: case 0xc3: case 0xe8: case 0xe9: case 0xea: case 0xeb: case 0xf1:
		return true;
	case 0xff:
		return reg >= 2 && reg <= 5;
	case 0x0f:
		/* SYSCALL, SYSRET, SYSENTER, SYSEXIT, RSM, near Jcc */
		return second == 0x05 || second == 0x07 || second == 0x34 || second == 0x35 ||
		       second == 0xaa || (second >= 0x80 && second <= 0x8f);
	default:
		return false;
	}
}

enum special { PLAIN, WRMSR, MOV_CR3 };

/* Fills len and flags; tells the two instructions that are watched. */
static enum special classify(const uint8_t *b, size_t len, struct oracle_insn *insn, uint8_t *reg)
{
	uint8_t op, second, modrm, rex = 0;
	bool repeat = false;
	size_t i = 0;

	insn->len = len;
	while (i + 1 < len && is_legacy_prefix(b[i])) {
		repeat |= b[i] == 0xf2 || b[i] == 0xf3;
		i++;
	}
	if (i + 1 < len && (b[i] & 0xf0) == 0x40)
		rex = b[i++];
	op = b[i];
	second = i + 1 < len ? b[i + 1] : 0;
	modrm = op == 0x0f ? (i + 2 < len ? b[i + 2] : 0) : second;
	if (repeat && is_string_op(op))
		insn->flags |= ORACLE_INSN_REP;
	if (is_branch_op(op, second, modrm))
		insn->flags |= ORACLE_INSN_BRANCH;
	if (is_jcc_op(op, second))
		insn->flags |= ORACLE_INSN_JCC;
	if (op >= 0xcc && op <= 0xce)
		insn->flags |= ORACLE_INSN_SOFTINT;
	if (op == 0x0f && second == 0x30)
		return WRMSR;
	*reg = (modrm & 7) | (rex & 1) << 3;
	return op == 0x0f && second == 0x22 && ((modrm >> 3) & 7) == 3 ? MOV_CR3 : PLAIN;
}

static void watch(struct qemu_plugin_insn *insn, struct block *block, uint32_t index,
		  enum special special, uint8_t reg)
{
	struct wrmsr_site *site = g_new0(struct wrmsr_site, 1);

	site->block = block;
	site->index = index;
	site->reg = reg;
	if (special == WRMSR)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_wrmsr, QEMU_PLUGIN_CB_R_REGS,
						       site);
	else
		qemu_plugin_register_vcpu_insn_exec_cond_cb(
			insn, on_cr3, QEMU_PLUGIN_CB_R_REGS, QEMU_PLUGIN_COND_NE,
			qemu_plugin_scoreboard_u64_in_struct(vcpus, struct vcpu, tracing), 0,
			site);
}

static void watch_block(struct qemu_plugin_tb *tb, struct block *block, bool entry)
{
	qemu_plugin_u64 on = qemu_plugin_scoreboard_u64_in_struct(vcpus, struct vcpu, tracing);

	if (entry)
		qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, on_entry, QEMU_PLUGIN_CB_R_REGS,
							  QEMU_PLUGIN_COND_NE, on, 0, block);
	else if (qemu_plugin_tb_vaddr(tb) >> 63)
		qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS,
							  QEMU_PLUGIN_COND_NE, on, 0, block);
	else
		qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, on_user_block,
							  QEMU_PLUGIN_CB_R_REGS,
							  QEMU_PLUGIN_COND_NE, on, 0, block);
}

/* With user= */
static void watch_range(struct qemu_plugin_tb *tb, struct block *block, bool entry)
{
	qemu_plugin_u64 open = qemu_plugin_scoreboard_u64_in_struct(vcpus, struct vcpu, open);
	uint64_t addr = qemu_plugin_tb_vaddr(tb);

	if (addr >= user_first && addr <= user_last)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_inside, QEMU_PLUGIN_CB_R_REGS, block);
	else
		qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, entry ? on_outside_entry : on_outside,
							  QEMU_PLUGIN_CB_R_REGS,
							  QEMU_PLUGIN_COND_NE, open, 0, block);
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t nr = qemu_plugin_tb_n_insns(tb), i;
	qemu_plugin_u64 index = qemu_plugin_scoreboard_u64_in_struct(vcpus, struct vcpu, index);
	/* Blocks live as long as QEMU: other vCPUs may still log one that was retranslated. */
	struct block *block = g_malloc0(sizeof(*block) + nr * sizeof(block->insns[0]));
	bool entry = is_entry(qemu_plugin_tb_vaddr(tb), &block->entry);

	(void)id;
	block->head.nr_insns = nr;
	if (user_last)
		watch_range(tb, block, entry);
	else
		watch_block(tb, block, entry);
	for (i = 0; i < nr; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint8_t bytes[MAX_INSN_BYTES] = { 0 }, reg = 0;
		size_t len = qemu_plugin_insn_size(insn);
		enum special special;

		qemu_plugin_insn_data(insn, bytes, sizeof(bytes));
		block->insns[i].vaddr = qemu_plugin_insn_vaddr(insn);
		special = classify(bytes, MIN(len, sizeof(bytes)), &block->insns[i], &reg);
		qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(
			insn, QEMU_PLUGIN_INLINE_STORE_U64, index, i);
		if (special != PLAIN && !user_last)
			watch(insn, block, i, special, reg);
	}
}

/* With user=: the write of RTIT_CTL that the reader expects before anything was traced. */
static void put_always_on(struct vcpu *v)
{
	put(v, ORACLE_MSR | ORACLE_ARG_MASK);
	put(v, MSR_RTIT_CTL);
	put64(v, atomic_fetch_add(&sequence, 1));
	put64(v, RTIT_CTL_TRACEEN | RTIT_CTL_USR | RTIT_CTL_BRANCHEN);
	put(v, ORACLE_ARG_MASK);
}

static void on_vcpu_init(qemu_plugin_id_t id, unsigned int index)
{
	struct vcpu *v = get_vcpu(index);
	GArray *regs = qemu_plugin_get_registers();
	char *path = g_strdup_printf("%s/cpu%u", out_dir, index);
	unsigned int i, r;

	(void)id;
	for (i = 0; i < regs->len; i++) {
		qemu_plugin_reg_descriptor *d;

		d = &g_array_index(regs, qemu_plugin_reg_descriptor, i);
		for (r = 0; r < G_N_ELEMENTS(gpr_names); r++)
			if (!g_strcmp0(d->name, gpr_names[r]))
				v->gpr[r] = d->handle;
	}
	g_array_free(regs, TRUE);
	if (!v->gpr[REG_RAX] || !v->gpr[REG_RCX] || !v->gpr[REG_RDX] || !v->gpr[REG_RSP] ||
	    !v->gpr[REG_RIP] || !v->gpr[REG_CR3])
		fail("QEMU shows no registers to plugins", "x86 registers");
	v->log = g_new(uint32_t, LOG_WORDS);
	v->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (v->fd < 0 || write(v->fd, ORACLE_CPU_MAGIC, 8) != 8)
		fail("cannot create", path);
	g_free(path);
	if (user_last)
		put_always_on(v);
}

static void on_exit_all(qemu_plugin_id_t id, void *arg)
{
	int i;

	(void)id;
	(void)arg;
	for (i = 0; i < qemu_plugin_num_vcpus(); i++) {
		struct vcpu *v = get_vcpu(i);

		if (!v->log)
			continue;
		put(v, ORACLE_END);
		flush_log(v);
		close(v->fd);
	}
	if (fclose(blocks_file))
		fail("cannot write the blocks", out_dir);
}

static void add_entry(uint64_t addr, const char *name)
{
	bool interrupt = !strncmp(name, "asm_sysvec_", 11) || !strcmp(name, "asm_exc_nmi");
	uint64_t *key = g_new(uint64_t, 1);

	*key = addr;
	g_hash_table_insert(entries, key,
			    GUINT_TO_POINTER(interrupt ? ORACLE_ENTRY_INTERRUPT
						       : ORACLE_ENTRY_EXCEPTION));
}

static bool read_map(const char *path)
{
	FILE *file = fopen(path, "r");
	unsigned long long addr;
	char name[256], type;

	if (!file) {
		fprintf(stderr, "oracle: map=%s: %s\n", path, strerror(errno));
		return false;
	}
	entries = g_hash_table_new(g_int64_hash, g_int64_equal);
	while (fscanf(file, "%llx %c %255s", &addr, &type, name) == 3) {
		if (!strncmp(name, "asm_exc_", 8) || !strncmp(name, "asm_sysvec_", 11) ||
		    !strcmp(name, "asm_int80_emulation") || !strcmp(name, "entry_INT80_compat"))
			add_entry(addr, name);
		/* System.map is sorted: a table of stubs ends where the next symbol begins. */
		if (nr_stubs && !stubs[nr_stubs - 1].end)
			stubs[nr_stubs - 1].end = addr;
		if ((!strcmp(name, "irq_entries_start") ||
		     !strcmp(name, "spurious_entries_start")) && nr_stubs < G_N_ELEMENTS(stubs)) {
			stubs[nr_stubs].start = addr;
			stubs[nr_stubs++].entry = ORACLE_ENTRY_INTERRUPT;
		}
	}
	fclose(file);
	if (!g_hash_table_size(entries))
		fprintf(stderr, "oracle: map=%s: no asm_exc_ symbols in it\n", path);
	return g_hash_table_size(entries);
}

static bool open_blocks(void)
{
	char *path = g_strdup_printf("%s/blocks", out_dir);

	g_mkdir_with_parents(out_dir, 0777);
	blocks_file = fopen(path, "wb");
	if (!blocks_file || fwrite(ORACLE_BLOCKS_MAGIC, 8, 1, blocks_file) != 1)
		fprintf(stderr, "oracle: out=%s: %s\n", out_dir, strerror(errno));
	g_free(path);
	return blocks_file;
}

static bool read_range(const char *arg)
{
	unsigned long long first, last;
	int end = 0;

	if (sscanf(arg, "user=%llx-%llx%n", &first, &last, &end) != 2 || arg[end])
		return false;
	user_first = first;
	user_last = last;
	return first < last && !(last >> 63);
}

QEMU_PLUGIN_EXPORT
int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	const char *map = NULL;
	int i;

	for (i = 0; i < argc; i++) {
		if (g_str_has_prefix(argv[i], "out=")) {
			out_dir = g_strdup(argv[i] + 4);
		} else if (g_str_has_prefix(argv[i], "map=")) {
			map = argv[i] + 4;
		} else if (!strcmp(argv[i], "bts=on")) {
			by_bts = true;
		} else if (!read_range(argv[i])) {
			fprintf(stderr, "oracle: unknown argument '%s'; it takes out=DIR, "
				"map=SYSTEM_MAP, bts=on and user=FIRST-LAST (addresses of user "
				"code)\n", argv[i]);
			return -1;
		}
	}
	if (!out_dir || !map || !info->system_emulation ||
	    strcmp(info->target_name, "x86_64")) {
		fprintf(stderr, "oracle: needs qemu-system-x86_64, out=DIR and map=SYSTEM_MAP\n");
		return -1;
	}
	if (!read_map(map) || !open_blocks())
		return -1;
	vcpus = qemu_plugin_scoreboard_new(sizeof(struct vcpu));
	qemu_plugin_register_vcpu_init_cb(id, on_vcpu_init);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	qemu_plugin_register_atexit_cb(id, on_exit_all, NULL);
	return 0;
}
