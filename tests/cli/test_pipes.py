"""What is printed into a pipe that nobody reads."""

import os
import subprocess
import sys

import pytest


@pytest.mark.slow
@pytest.mark.parametrize("given", ["sources", "sources --json"])
def test_a_reader_that_is_gone_is_exit_status_141_and_no_traceback(given):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        command = [sys.executable, "-m", "xcurves", *given.split()]
        done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(writer)
    assert done.returncode == 141
    assert done.stderr == ""
