# SPDX-License-Identifier: BSD-3-Clause
"""Signals that end a job, in tests that send them. Used by jobs.py and by scripts without it."""

import signal


def by_default():
    """Gives the signals their default action, for this script and what it starts. Below nohup, and
    in the background of a script, they are ignored, and tombolo lets them stay so."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
