"""Where a run takes place: namespaces of its own for network, mounts and process ids.

What a run makes in them is gone with its first process, however that ends: the kernel cleans up.
Only control groups stay behind; their names tell whose they were.
"""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import cgroups
from namespaces import UNSHARE

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from machine import can_boot  # noqa: E402

PATIENCE = 20  # seconds for an orderly end


def works(*words):
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=30,
                              check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def namespaces():
    """The command prefix that puts a program into namespaces of its own; none if that is not
    allowed."""
    for words in (UNSHARE, [UNSHARE[0], "--user", "--map-root-user", *UNSHARE[1:]]):
        if works(*words, "true"):
            return words
    return []


def lead(script, arguments):
    """Runs the script inside, ends it when this process is told to end, and cleans up
    afterwards."""
    cgroups.remove_left_behind()
    child = subprocess.Popen([*namespaces(), sys.executable, "-B", script, "--inside",
                              str(os.getpid()), *arguments],
                             stdin=subprocess.PIPE, start_new_session=True)

    def end(*_):
        child.stdin.close()
        killer = threading.Timer(PATIENCE, child.kill)
        killer.daemon = True
        killer.start()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)
    while child.poll() is None:
        # Frozen processes do not die, and their parent waits for their end.
        if led_by_the_dead(child.pid):
            cgroups.remove_all_of(os.getpid())
        time.sleep(0.3)
    cgroups.remove_all_of(os.getpid())
    sys.exit(child.returncode if child.returncode >= 0 else 1)


def led_by_the_dead(pid):
    """Whether the only child of that process has died and was not reaped."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return bool(children) and not Path(f"/proc/{children[0]}/cmdline").read_bytes()
    except OSError:
        return False


def end_with_the_leader():
    """Inside: the end of standard input means that this process has to end, or that its parent
    died."""

    def watch():
        os.read(0, 1)
        print("torture: ending early", flush=True)
        killer = threading.Timer(PATIENCE, os._exit, [1])
        killer.daemon = True
        killer.start()
        signal.raise_signal(signal.SIGINT)

    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=watch, daemon=True).start()


def missing(owner):
    """What is not possible here, each with the reason."""
    gone = {}
    isolated = os.getpid() == 1
    if not isolated:
        gone["network"] = "no network namespaces: neither root nor user namespaces"
    elif not works("nft", "list", "tables"):
        gone["nft"] = "no packet filter: nft does not work"
    if isolated and not shutil.which("tc"):
        gone["tc"] = "no slow links: tc is not there"
    if not isolated or not works("mount", "-t", "tmpfs", "-o", "size=1m", "none", "/run"):
        gone["tmpfs"] = "no full disks: no tmpfs can be mounted"
    if not isolated or not can_boot():
        gone["boot"] = "no losses of power: no process can be shown another boot id"
    if not works("strace", "-o", "/dev/null", "true"):
        gone["strace"] = "no failing or slow syncs: strace does not work"
    for control in ("freezer", "cpu"):
        if not cgroups.available(control, owner):
            gone[control] = f"no control group for {control}"
    # For faults that need nodes with network namespaces of their own.
    for tool in ("nft", "tc"):
        if "network" in gone:
            gone.setdefault(tool, "")
    return gone
