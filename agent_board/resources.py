"""Where the style sheets and the runner are: beside the package in a checkout, inside it in a wheel."""

import os

_PACKAGE = os.path.dirname(os.path.realpath(__file__))


def _folder(name: str) -> str:
    packaged = os.path.join(_PACKAGE, "_" + name)
    return packaged if os.path.isdir(packaged) else os.path.join(os.path.dirname(_PACKAGE), name)


STYLES = _folder("styles")
RUNNER = _folder("runner")
JOB_RUNNER = os.path.join(RUNNER, "job_runner.py")
REPORT_EXTENSION = os.path.join(RUNNER, "report_extension.ts")
GEMINI_READING = os.path.join(RUNNER, "gemini_reading.toml")
