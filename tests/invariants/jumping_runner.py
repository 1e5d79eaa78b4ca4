"""The runner's program on a machine whose wall clock jumps back an hour each time that somebody looks."""

import itertools
import os
import sys
import time

if __name__ == "__main__":
    if os.fork():
        os._exit(0)
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    hours = itertools.count()
    real = time.time_ns
    time.time_ns = lambda: real() - next(hours) * 3_600_000_000_000
    time.time = lambda: time.time_ns() / 1e9

    from agent_board.runs.shim import main

    sys.exit(main(sys.argv[1:]))
