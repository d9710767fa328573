# SPDX-License-Identifier: GPL-2.0-only
"""Results of kselftests that kernels without the series are known to fail, as it mends that.

The list is of the messages of the series' steps. Any other failure is one.
"""

import re

NO_DISABLE = "a full area does not disable its event"
WITHOUT_SERIES = [(re.compile(name), why) for name, why in (
    (r"aux_full: .*\.(event_is_off|enable_\w+|reader_on_another_cpu_\w+)", NO_DISABLE),
    (r"aux_lost: .*\.(later_records|each_record|records_that_wait|flags_are)_\w+",
     "a record for which there is no room is lost with its flags"),
    (r"aux_set_output: .*\.inherited_event_of_a_task_is_refused", "two tasks may share an area"),
    (r"aux_group: .*\.leader_whose_cpu_was_off_is_refused", "such a leader is taken"),
    (r"aux_group: .*\.fork_goes_on_while_the_leader_is_closed", "fork() fails meanwhile"),
    (r"aux_mlock: .*\.refused_mappings_disturb_nobody", "others see a charge that is refused"),
    (r"aux_memcg: .*", "areas belong to no control group"),
    (r"aux_big: .*\.map_touch_and_trace", "a page fault maps one page; areas end at 2 GiB"),
    (r"aux_big: .*\.fatal_signal_ends_it", "a signal does not end the allocation"))]
# Of kernels that have no aux_action
PAUSING = re.compile(r"aux_pause: .*|aux_group: link\.\w*(pause|resume)\w*\..*")


def reason(name, series, aux_action):
    """Why a test of that name fails on this kernel, or ""."""
    if PAUSING.fullmatch(name) and not aux_action:
        return "the kernel has no aux_action"
    if series:
        return ""
    return next((why for pattern, why in WITHOUT_SERIES if pattern.fullmatch(name)), "")


def mark(results, series, aux_action):
    """The same results; a failure that is known of such a kernel is a difference."""
    for one in results:
        why = reason(one["name"], series, aux_action)
        if one["verdict"] == "fail" and why:
            one = dict(one, verdict="differs", reason="known without the series, %s: %s"
                       % (why, one["reason"]))
        yield one
