// SPDX-License-Identifier: GPL-2.0-only
/* NMIs of x86 from which the synthetic AUX PMUs write: a CPU sends them to itself. */
#include <linux/cpufeature.h>
#include <linux/percpu.h>
#include <linux/smp.h>

#include <asm/apic.h>
#include <asm/nmi.h>

#include "synth.h"

/**
 * struct synth_nmi - the NMI of a CPU
 * @writer: the event that sent the last NMI, and still runs; or NULL
 * @sent: an NMI was sent, and may still come
 * @sending: synth_nmi_send() is sending it. An NMI that comes now may be another one,
 *	so the handler leaves @sent set.
 *
 * Owned by the CPU, with interrupts off or in an NMI.
 */
struct synth_nmi {
	struct synth	*writer;
	bool		sent;
	bool		sending;
};

static DEFINE_PER_CPU(struct synth_nmi, synth_nmi);

/**
 * synth_has_nmi - check whether this machine can send an NMI
 *
 * Return: true or false
 */
bool synth_has_nmi(void)
{
	return boot_cpu_has(X86_FEATURE_APIC);
}

/**
 * synth_nmi_send - send an NMI to this CPU, in which an event writes
 * @synth: the event, which runs here
 *
 * If another event sends its NMI before this one comes, this event does not write.
 *
 * Context: interrupts off.
 */
void synth_nmi_send(struct synth *synth)
{
	struct synth_nmi *nmi = this_cpu_ptr(&synth_nmi);

	WRITE_ONCE(nmi->writer, synth);
	WRITE_ONCE(nmi->sending, true);
	WRITE_ONCE(nmi->sent, true);
	apic->send_IPI(smp_processor_id(), NMI_VECTOR);
	WRITE_ONCE(nmi->sending, false);
}

/**
 * synth_nmi_stop - an event does not run any more
 * @synth: the event
 *
 * Its NMI has come, so an NMI that comes now is not claimed.
 *
 * Context: interrupts off, on the CPU of the event.
 */
void synth_nmi_stop(struct synth *synth)
{
	struct synth_nmi *nmi = this_cpu_ptr(&synth_nmi);

	if (READ_ONCE(nmi->writer) != synth)
		return;
	/* In this order: the handler takes the writer of an NMI that was sent. */
	WRITE_ONCE(nmi->sent, false);
	WRITE_ONCE(nmi->writer, NULL);
}

static int synth_nmi_handler(unsigned int type, struct pt_regs *regs)
{
	struct synth_nmi *nmi = this_cpu_ptr(&synth_nmi);

	if (!READ_ONCE(nmi->sent))
		return NMI_DONE;
	if (!READ_ONCE(nmi->sending))
		WRITE_ONCE(nmi->sent, false);
	synth_write_more(READ_ONCE(nmi->writer));
	return NMI_HANDLED;
}

/**
 * synth_nmi_init - begin to handle NMIs
 *
 * Return: 0, or an error of register_nmi_handler()
 */
int synth_nmi_init(void)
{
	return register_nmi_handler(NMI_LOCAL, synth_nmi_handler, 0, "aux_synth");
}

/**
 * synth_nmi_exit - undo synth_nmi_init(), after the last event has gone
 */
void synth_nmi_exit(void)
{
	unregister_nmi_handler(NMI_LOCAL, "aux_synth");
}
