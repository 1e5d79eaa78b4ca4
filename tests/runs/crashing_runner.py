"""The runner's program as runner/job_runner.py, but the shim dies where the test says."""

import os
import sys

if __name__ == "__main__":
    if os.fork():
        os._exit(0)
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

    from agent_board.runs.shim import main
    from tests.runs.crash import STEP, arm_shim

    arm_shim(os.environ[STEP])
    sys.exit(main(sys.argv[1:]))
