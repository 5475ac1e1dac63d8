#!/usr/bin/env python3
"""What a newcomer does: a bare Debian 12, and nothing but the commands of the pages.

    newcomer.py [--ccache FOLDER]
    newcomer.py --release NAME

With --release it takes another release of Debian (trixie), builds and installs from the source as
docs/building.md says, and executes the commands of README.md.

Makes the root of a bare system with mmdebstrap, copies the tree there, executes the commands that
README.md marks with `newcomer` and then all others, and the tutorial with its three hosts. Prints
how long it took to the first lock of each. With --ccache the compiler's cache of that folder is
used, and the times say nothing about a first build. It takes root and the network.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import shell_blocks  # noqa: E402
import tidy  # noqa: E402

SKIPPED = 77
TREE = "/root/mortise"
# The blocks after which somebody has a lock.
FIRST_LOCK = {"README.md": "mortise run", "docs/tutorial.md": "mortise locks"}


def run(*words, **more):
    print("+", " ".join(map(str, words)), flush=True)
    return subprocess.run(list(map(str, words)), check=True, stdin=subprocess.DEVNULL, **more)


class BareSystem:
    def __init__(self, root, ccache, release="bookworm"):
        self.root = root
        self.ccache = ccache
        # The package lists are left to `./dev`, which updates them.
        run("mmdebstrap", "--variant=minbase", "--include=ca-certificates", release, root)
        # A mount of its own, because namespaces inside change how the mount of "/" propagates.
        run("mount", "--bind", root, root)
        for kind, name in (("proc", "proc"), ("sysfs", "sys"), ("tmpfs", "run")):
            run("mount", "-t", kind, kind, root / name)
        run("mount", "--rbind", "/dev", root / "dev")
        for name in ("resolv.conf", "hosts"):
            shutil.copyfile(f"/etc/{name}", root / "etc" / name)
        for name in tidy.tree(ROOT):
            to = root / TREE[1:] / name
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to)
        if ccache:
            (root / "ccache").mkdir()
            run("mount", "--bind", ccache, root / "ccache")

    def does(self, script, **more):
        plain = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                 "HOME": "/root", "LC_ALL": "C.UTF-8"}
        if self.ccache:
            plain |= {"CCACHE_DIR": "/ccache", "CCACHE_BASEDIR": TREE}
        return run("chroot", self.root, "bash", "-euc", f"cd {TREE}\n{script}", env=plain, **more)


def page(name):
    return list(shell_blocks.blocks((ROOT / name).read_text(encoding="utf-8").splitlines()))


def install(system):
    """What README.md says until there is a `mortise` program; returns how long it took."""
    begin = time.monotonic()
    for block in page("README.md"):
        if block.mode == "newcomer":
            system.does(block.text)
    return time.monotonic() - begin


def first_lock(system, name, *options):
    """Executes a page, and returns how long it took until somebody had a lock."""
    words = ["python3", "-B", "tests/docs/commands.py", "--times", name, *options]
    try:
        done = system.does(" ".join(words), stdout=subprocess.PIPE, text=True)
    except subprocess.CalledProcessError as error:
        sys.exit(error.stdout)
    print(done.stdout, flush=True)
    line = next(block.line for block in page(name) if FIRST_LOCK[name] in block.text)
    return float(re.search(rf":{line}: ([\d.]+) s", done.stdout)[1])


def minutes(seconds):
    return f"{int(seconds // 60)} min {seconds % 60:04.1f} s"


def inside(folder, ccache):
    """In mount and process namespaces of its own: what is mounted here, nobody else sees."""
    system = BareSystem(folder, ccache)
    installed = install(system)
    processes = first_lock(system, "README.md", "--full")
    for block in page("docs/tutorial.md"):  # what the tutorial tells its reader to install
        if block.mode == "skip" and "apt-get install" in block.text:
            system.does(block.text)
    hosts = first_lock(system, "docs/tutorial.md", "--full")
    print(f"from a bare system to an installed program: {minutes(installed)}")
    print(f"then to the first lock of three processes: {processes:.1f} s")
    print(f"then to the first lock of three hosts with TLS: {hosts:.1f} s")


def inside_of_release(folder, release):
    """The library and the program with the packages of that release, and three processes."""
    system = BareSystem(folder, None, release)
    begin = time.monotonic()
    system.does("./dev install /usr/local && ldconfig")
    print(f"{release}: built and installed in {minutes(time.monotonic() - begin)}")
    system.does("dpkg-query -W g++ cmake libasio-dev libcapnp-dev libssl-dev librocksdb-dev "
                "libspdlog-dev libtomlplusplus-dev libxxhash-dev nlohmann-json3-dev libcli11-dev "
                "libcpp-httplib-dev")
    system.does("apt-get -q install -y --no-install-recommends python3")  # for what executes a page
    processes = first_lock(system, "README.md", "--full")
    print(f"{release}: then to the first lock of three processes: {processes:.1f} s")


def main(arguments):
    if arguments[:1] == ["--inside"]:
        if arguments[2:3] == ["--release"]:
            inside_of_release(Path(arguments[1]), arguments[3])
        else:
            inside(Path(arguments[1]), arguments[2] if len(arguments) > 2 else None)
        return 0
    if os.geteuid() != 0 or not shutil.which("mmdebstrap"):
        print("skipped: this takes root and mmdebstrap")
        return SKIPPED
    more = arguments[1:2] if arguments[:1] == ["--ccache"] else arguments[:2]
    # Removed out here, where none of the mounts is.
    with tempfile.TemporaryDirectory(prefix="mortise-newcomer-") as folder:
        done = subprocess.run(["unshare", "--mount", "--propagation", "private", "--pid", "--fork",
                               "--kill-child", sys.executable, "-B", __file__, "--inside",
                               folder, *more], check=False)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
