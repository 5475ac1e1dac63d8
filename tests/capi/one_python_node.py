"""What the tests of the Python package share: the package in the folder that the first argument
names, with the library that the second one names, and a node."""

import os
import subprocess
import sys
import time
from pathlib import Path

FOLDER, LIBRARY = (str(Path(argument).resolve()) for argument in sys.argv[1:3])
os.environ["MORTISE_LIBRARY"] = LIBRARY
sys.path.insert(0, FOLDER)
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import mortise  # noqa: E402  pylint: disable=wrong-import-position
from free_ports import free_ports  # noqa: E402,F401  for those who import this

PATIENCE = 60  # seconds; a test takes this long only if it hangs


def wait_for(condition):
    end = time.monotonic() + PATIENCE
    while not condition() and time.monotonic() < end:
        time.sleep(0.002)
    return condition()


def open_node():
    config = mortise.Config.in_memory()
    config.set_log(mortise.LogLevel.OFF)
    node = mortise.Node(config)
    node.wait_ready(PATIENCE)
    return node


def run(program, **environment):
    """How a program ended that imports the package."""
    return subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": FOLDER, **environment},
                          timeout=PATIENCE, check=False)


def toml(number, ports, folder):
    peers = ", ".join(f'{{ id = {i}, address = "127.0.0.1:{port}" }}'
                      for i, port in enumerate(ports, 1))
    return (f'node_id = {number}\nlisten = "127.0.0.1:{ports[number - 1]}"\n'
            f'data_dir = "{folder}/{number}"\npeer = [{peers}]\n')
