"""Folders in which programs run as on another machine: chroot, in namespaces of their own."""

import os
import shutil
import subprocess
from pathlib import Path

# Processes, mounts and loopback of the command are its own, and end with it.
ENTER = """set -e
root=$1; shift
mount -t proc proc "$root/proc"
[ -e "$root/dev/null" ] || { : > "$root/dev/null"; mount --bind /dev/null "$root/dev/null"; }
if [ "$NETWORK" = own ]; then ip link set lo up; fi
exec chroot "$root" "$@"
"""
PLAIN = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C",
         "HOME": "/", "DEBIAN_FRONTEND": "noninteractive"}


def why_not():
    """Why no such root can be had here, or None."""
    if os.geteuid() != 0:
        return "it takes root"
    missing = [tool for tool in ("unshare", "chroot", "ip") if shutil.which(tool) is None]
    if missing:
        return f"{', '.join(missing)} is missing"
    done = subprocess.run(["unshare", "--mount", "--pid", "--net", "--fork", "true"],
                          capture_output=True, text=True, check=False)
    return done.stderr.strip() if done.returncode else None


class Root:
    def __init__(self, path):
        self.path = Path(path)

    @staticmethod
    def empty(path):
        root = Root(path)
        for folder in ("bin", "dev", "proc", "tmp"):
            (root.path / folder).mkdir(parents=True, exist_ok=True)
        return root

    @staticmethod
    def debian(path, archive):
        """A minimal Debian 12. It comes from the archive if that exists, and is kept there."""
        if not Path(archive).exists():
            subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", "bookworm", archive],
                           check=True)
        Path(path).mkdir(parents=True)
        subprocess.run(["tar", "-C", path, "--exclude=./dev/*", "-xf", archive], check=True)
        shutil.copy("/etc/resolv.conf", Path(path) / "etc" / "resolv.conf")
        return Root(path)

    def run(self, *command, network="own", check=True, timeout=300, **variables):
        unshare = ["unshare", "--mount", "--pid", "--fork", "--kill-child",
                   "--propagation", "private", *(["--net"] if network == "own" else [])]
        words = [*unshare, "sh", "-c", ENTER, "sh", self.path, *map(str, command)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=timeout, check=False,
                              env={**PLAIN, "NETWORK": network, **variables},
                              stdin=subprocess.DEVNULL)
        if check and done.returncode != 0:
            raise AssertionError(f"{command} ended with {done.returncode}:\n"
                                 f"{done.stdout}{done.stderr}")
        return done

    def files(self):
        """Everything in it, apart from what changes with each use of apt."""
        passing = ("proc", "dev", "tmp", "var/cache", "var/log", "var/lib/apt", "var/lib/dpkg")
        return {name for name in
                (str(path.relative_to(self.path)) for path in self.path.rglob("*"))
                if not name.startswith(passing)}
