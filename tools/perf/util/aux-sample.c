// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples that have AUX area data, of which call chains and branch stacks are made: each must be
 * made of the trace that came with the sample, and of what that trace continues.
 */
#include "auxtrace.h"
#include "callchain.h"
#include "machine.h"
#include "thread.h"
#include "thread-stack.h"

/*
 * Of a sample's data nothing can be decoded if it has no synchronization point, or no branch behind
 * one. The thread stack then is that of an older sample's trace. It is emptied here, as it would be
 * by the first branch of another trace.
 *
 * @before is the data of the sample before in this queue, or NULL.
 *
 * Return: the data of this sample, or @before if it is not in the queue
 */
struct auxtrace_buffer *auxtrace_queue__start_sample(struct auxtrace_queue *queue,
						     struct auxtrace_buffer *before,
						     struct machine *machine,
						     struct perf_sample *sample)
{
	struct auxtrace_buffer *buffer = auxtrace_buffer__next(queue, before);
	pid_t pid = sample->pid, tid = sample->tid;
	struct thread *thread;

	if (!buffer)
		return before;

	thread = machine__findnew_thread(machine, pid, tid);
	if (thread)
		thread_stack__set_trace_nr(thread, sample->cpu, buffer->trace_nr);
	thread__put(thread);
	return buffer;
}
