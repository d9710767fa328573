# SPDX-License-Identifier: GPL-2.0-only
"""Snapshots of a running 'perf record -S', for the shell of a guest.

perf ignores the signal for a snapshot until it is ready, which takes long with --kcore or on a
busy machine. So the signal is repeated until the recording has grown.
"""

# Waits for perf's buffers, and defines take_snapshots COUNT. To be formatted with the recording,
# out; $recorder is perf.
#
# How much is written is asked of perf's own file, not of the share: 9p with writeback takes a file's
# size from the server when somebody asks for it, even while the newest data is still on its way
# there, and a page of zeros may then be where the data was.
FUNCTION = """
until grep -q perf_event /proc/$recorder/maps; do sleep 0.1; done
written() {{
    for fd in /proc/$recorder/fd/*; do
        case $(readlink $fd) in
        */{out}|{out}|*/{out}/data|{out}/data) sed -n 's/^pos:[^0-9]*//p' /proc/$recorder/fdinfo/${{fd##*/}};;
        esac
    done | sort -n | tail -1
}}
take_snapshots() {{
    for snapshot in $(seq $1); do
        before=$(written)
        for try in $(seq 60); do
            sleep 0.5
            kill -USR2 $recorder || return
            sleep 0.5
            [ "$(written)" -gt $((before + 4096)) ] && break
        done
    done
}}
"""
