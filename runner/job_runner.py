"""The runner's program: `python -I -S job_runner.py ROOT VIEW RUN LOCK_FD READY_FD`.

Forks at once and lets the first process end, so that whoever started it has nothing left to wait for; the second
one is the shim. Everything is imported before the run begins: the files may be replaced while it goes on.
"""

import os
import sys

if __name__ == "__main__":
    if os.fork():
        os._exit(0)
    here = os.path.dirname(os.path.realpath(__file__))
    # In a checkout the package stands beside runner/; in a wheel runner/ stands inside the package.
    above = os.path.dirname(here)
    sys.path.insert(0, os.path.dirname(above) if os.path.basename(here) == "_runner" else above)

    from agent_board.runs.shim import main

    sys.exit(main(sys.argv[1:]))
