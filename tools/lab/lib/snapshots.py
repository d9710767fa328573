# SPDX-License-Identifier: GPL-2.0-only
"""Snapshots of a running 'perf record -S', for the shell of a guest.

perf ignores the signal for a snapshot until it is ready, which takes long with --kcore or on a
busy machine. So the signal is repeated until the recording has grown.
"""

# Waits for perf's buffers, and defines take_snapshots COUNT. To be formatted with the recording,
# out; $recorder is perf.
FUNCTION = """
until grep -q perf_event /proc/$recorder/maps; do sleep 0.1; done
written() {{ stat -c %s {out}/data 2>/dev/null || stat -c %s {out}; }}
take_snapshots() {{
    for snapshot in $(seq $1); do
        before=$(written)
        for try in $(seq 60); do
            sleep 0.5
            kill -USR2 $recorder || return
            sleep 0.5
            [ $(written) -gt $((before + 4096)) ] && break
        done
    done
}}
"""
