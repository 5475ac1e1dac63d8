"""Executes the commands of a page, as a reader would type them; see shell_blocks.py.

    commands.py [--full] [--times] PAGE [NAME=PATH]...

A page is executed by one shell in an empty folder, in namespaces of its own, so that its ports are
free and everything ends with it. The programs NAME are on the shell's path; PREFIX=PATH is an
installation of the library. --times prints when each block ended, in seconds from the beginning.
The exit code is 77 if namespaces are not allowed.
"""

import array
import contextlib
import fcntl
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "torture"))

import sandbox  # noqa: E402
import shell_blocks  # noqa: E402

INSIDE = "MORTISE_TEST_INSIDE"
SKIPPED = 77
LAST_LINES = 30


def loopback_up():
    """As `ip link set lo up` does, which not every machine has."""
    set_flags, up = 0x8914, 0x1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as device:
        request = array.array("B", struct.pack("16sH14x", b"lo", up))
        fcntl.ioctl(device, set_flags, request)


def script(blocks, full):
    """One script for a page: the output of block N goes to $OUTPUT/N, and N to $OUTPUT/at."""
    modes = {"run", "fails", "hidden"} | ({"full"} if full else set())
    lines = ["set -eu"]
    for number, block in enumerate(blocks):
        if block.file:
            lines += [f"mkdir -p \"$(dirname '{block.file}')\"",
                      f"cat >'{block.file}' <<'END OF FILE'\n{block.text}END OF FILE"]
        elif block.language == "sh" and block.mode in modes:
            lines += [f"echo {number} >\"$OUTPUT/at\"", f"exec >\"$OUTPUT/{number}\" 2>&1"]
            lines += failing(block.text) if block.mode == "fails" else [block.text]
            lines.append(f"echo {number} $EPOCHREALTIME >>\"$OUTPUT/times\"")
    return "\n".join([*lines, "echo done >\"$OUTPUT/at\"", ""])


def failing(text):
    return ["if (", text, "); then echo 'this was to fail'; exit 1; fi"]


def variables(folder, programs):
    """The environment of the shell: the programs by their names, and nothing of Mortise."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("MORTISE_")}
    tools = folder / "bin"
    tools.mkdir()
    for name, path in programs.items():
        (tools / name).symlink_to(Path(path).resolve())
    prefix = folder / "prefix"
    home = folder / "home"
    home.mkdir()
    return kept | {"PATH": f"{tools}:{kept['PATH']}", "OUTPUT": str(folder / "output"),
                   "HOME": str(home), "NO_COLOR": "1", "CMAKE_PREFIX_PATH": str(prefix),
                   "PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig:{prefix}/lib/x86_64-linux-gnu/"
                                      "pkgconfig"}


def complaints(page, blocks, output):
    """What went wrong: the block that the shell stopped in, or an output that is not as shown."""
    at = (output / "at").read_text().strip() if (output / "at").exists() else "0"
    if at != "done":
        block = blocks[int(at)]
        said = (output / at).read_text(errors="replace").splitlines()[-LAST_LINES:]
        yield "\n".join([f"{page}:{block.line}: these commands fail:", block.text, *said])
    for number, block in enumerate(blocks):
        said = output / str(number)
        if not block.shows or not said.exists() or str(number) == at:
            continue
        lines = said.read_text(errors="replace").splitlines()
        line = shell_blocks.missing(block.shows, lines)
        if line is not None:
            yield "\n".join([f"{page}:{block.line}: the output does not have: {line}", *lines])


def end_the_rest():
    """What the page left running, for example its nodes: this is process 1 of a namespace, and all
    others in it are the page's."""
    if os.getpid() != 1:
        return
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()


def print_times(page, blocks, output, begin):
    for line in (output / "times").read_text().splitlines():
        number, time_of_day = line.split()
        print(f"{page}:{blocks[int(number)].line}: {float(time_of_day) - begin:.1f} s")


def execute(page, options, programs):
    blocks = list(shell_blocks.blocks((ROOT / page).read_text(encoding="utf-8").splitlines()))
    prefix = programs.pop("PREFIX", None)
    with tempfile.TemporaryDirectory(prefix="mortise-docs-") as name:
        folder = Path(name)
        for each in ("output", "work"):
            (folder / each).mkdir()
        if prefix:
            (folder / "prefix").symlink_to(Path(prefix).resolve())
        begin = time.time()
        subprocess.run(["bash", "-c", script(blocks, "--full" in options)], cwd=folder / "work",
                       check=False, env=variables(folder, programs), stdin=subprocess.DEVNULL)
        end_the_rest()
        if "--times" in options:
            print_times(page, blocks, folder / "output", begin)
        return list(complaints(page, blocks, folder / "output"))


def main(arguments):
    options = {each for each in arguments if each.startswith("--")}
    page, *pairs = [each for each in arguments if each not in options]
    if INSIDE not in os.environ:
        words = sandbox.namespaces()
        if not words:
            print("skipped: namespaces are not allowed here")
            return SKIPPED
        os.environ[INSIDE] = "1"
        os.execvp(words[0], [*words, sys.executable, "-B", *sys.argv])
    loopback_up()
    if "--full" in options:  # for the names of network namespaces
        subprocess.run(["mount", "-t", "tmpfs", "none", "/run"], check=True)
    programs = dict(re.split("=", pair, maxsplit=1) for pair in pairs)
    found = execute(page, options, programs)
    print("\n".join(found) or f"{page}: every command does what the page says")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
