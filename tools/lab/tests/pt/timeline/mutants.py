# SPDX-License-Identifier: GPL-2.0-or-later
"""Mutants of dlfilter-timeline, with a fault each: a check must notice it."""

# Whether a recording is cut off
CUT_CONDITION = "if (need > tl_rec.size)"
# {file: [(what is there, what is put in its place, the check of timeline.test that must fail)]}
BY_FILE = {
    "timeline-json.c": [
        ('p = tl_put(p, "\\\\ufffd");', "p = tl_put_bytes(p, (const char *)in, 1);", "names"),
        ("*in == '\"' || ", "", "file"),
        ("*p++ = '0' + rest / 100;", "*p++ = '0';", "file"),
    ],
    "timeline-tracks.h": [
        ("time > *last ? time : *last + 1", "time", "file"),
    ],
    "timeline-tracks.c": [
        ('name_thread(thread, "thread_name");\n\treturn', "return", "file"),
        ('tl_thread_end(&oldest->thread, "too many threads");',
         "memset(oldest, 0, sizeof(*oldest));", "limits"),
        ("2 * thread->cpu + (thread->tid < 0)", "2 * thread->cpu", "unknown"),
        ("if (thread->tid >= 0)", "", "unknown"),
    ],
    "timeline-names.c": [
        ("p = put_cut(p, sym ? sym : number);", "p = put_cut(p, number);", "calls"),
        ("name->used = ++names.clock;", "name->json = strdup(name->json);", "memory"),
    ],
    "timeline-calls.c": [
        ("#define INSN_MAX\t\t15", "#define INSN_MAX\t\t1", "calls"),
        ("tl_calls_close(thread, call - thread->calls + 1, time, LEFT);", ";", "known"),
        ("replace_top(thread, time, name);", ";", "known"),
        ("tl_calls_close(thread, depth + 1, time, LEFT);", "", "ends"),
        ("if (!goes_on)\n\t\ttl_calls_begin(thread, time, sample, ctx);", ";", "ends"),
        ("(distance || call->kind == TL_INTERRUPT)", "distance", "system_calls"),
        ("call.kind = TL_SYSCALL;", "call.kind = TL_CALL;", "system_calls"),
        ("new->insn = thread->insn;", "new->insn = 0;", "cycles"),
        ("if (tl_rec.cycles && ", "if (", "cycles"),
        ('close_one(thread, time, "cut", why);', "break;", "truncated"),
        ("thread->hidden++;", ";", "limits"),
    ],
    "timeline-untraced.c": [
        ('{ "syscall", "syscall" }', '{ "untraced", "syscall" }', "system_calls"),
        ('return (struct kind){ "untraced", "paused" };', "", "paused"),
        ("\t\treturn by_arrangement(thread);\n", "", "paused"),
        ('return (struct kind){ "untraced", "filtered" };', "", "filtered"),
    ],
    "dlfilter-timeline.c": [
        ("if (!goes_on)\n\t\ttl_calls_begin", "if (0)\n\t\ttl_calls_begin", "filtered"),
        ("tl_area_run(area, thread, time);", ";", "cpus"),
        ("tl_thread_rename(thread, event->comm);", ";", "names"),
        ("thread->exec |= event->exec;", ";", "ends"),
        ("thread->exiting = true;", ";", "ends"),
        ("tl_events_until(sample->time, on_event);", ";", "truncated"),
        ("if (!timeline.decoded)", "if (0)", "elsewhere"),
        ("if (!timeline.samples)", "if (0)", "use"),
        ("if (!timeline.asked)", "if (0)", "refused"),
    ],
    "timeline-events.c": [
        ("while (ev.known <= time && ev.known != TL_NEVER && read_on())", "while (0)", "truncated"),
    ],
    "timeline-holes.c": [
        ("before_first(area, area->why_time, 0);", ";", "unseen"),
        ("area->why |= TL_TRUNCATED;", ";", "truncated"),
        ("why = before_unsaid(area);", "why = 0;", "unsaid"),
        ("return why | TL_OVERFLOW;", "return why | TL_ERROR;", "overflow"),
        ("if (area->ended)\n\t\treturn 0;", "", "file"),
        ("return why | TL_ERROR;", "return why | TL_LOST;", "wrong"),
        ("area->gap_from = area->aux_time;", "area->gap_from = 0;", "partial"),
        ("event = tl_rec.partial ?", "event = 0 ?", "partial"),
        ("hole_of_area(area, event->from, event->time, TL_LOST, event->count);", "", "lost"),
        ("tl_snapshots_gap(area->snapshots, time) ?", "0 ?", "pieces"),
        ("return sampled ? TL_SAMPLE : 0;", "return 0;", "pieces"),
    ],
    "timeline-losses.c": [
        ("losses->at = words[0] + words[1];", "losses->at = TL_NEVER;", "bts_truncated"),
    ],
    "timeline-bts.c": [
        ("bts->branches += branch.from || branch.to;", "bts->branches = 1;", "bts_time"),
    ],
    "timeline-pt.c": [
        ("add(pt, OVERFLOW);", ";", "overflow"),
        ("if (pt->in_psb ? pt->again : pt->lost)", "if (pt->in_psb || pt->lost)", "overflow"),
    ],
    "timeline-file.c": [
        (CUT_CONDITION, "if (0)", "refused"),
        ("else if (!met->kind)", "else if (0)", "refused"),
    ],
    "timeline-records.c": [
        ("if (header.size + rec->payload > tl_rec.end - cursor->at)", "if (0)", "refused"),
    ],
}
MUTANTS = [(file, *each) for file, those in BY_FILE.items() for each in those]
