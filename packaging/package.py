#!/usr/bin/env python3
"""Makes the packages of a build of the preset `package`, and prints what they are.

    packaging/package.py BUILD [--only debian,static,python]

They land in BUILD/packages: Debian packages, an archive with the static program, and the source
archive and the wheel of the Python package.
"""

import argparse
import gzip
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TREE / "tools"))

import version as versions  # noqa: E402

KINDS = ("debian", "static", "python")
# What mortise_static is linked with: a library of cmake/MortiseStatic.cmake, or a compiler's.
PACKAGES = ("librocksdb-dev libsnappy-dev liblz4-dev libzstd-dev zlib1g-dev libbz2-dev "
            "libgflags-dev libcapnp-dev libssl-dev libasio-dev libspdlog-dev libfmt-dev "
            "libtomlplusplus-dev libxxhash-dev libcli11-dev nlohmann-json3-dev libc6-dev").split()


def run(*command, **options):
    subprocess.run([str(word) for word in command], check=True, **options)


def commit_time():
    """The same for each build of a commit, as far as it is known."""
    if known := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(known)
    done = subprocess.run(["git", "-c", "safe.directory=*", "-C", TREE, "log", "-1",
                           "--format=%ct"], capture_output=True, text=True, check=False)
    return int(done.stdout) if done.returncode == 0 else 0


def debian(build, packages):
    scratch = build / "cpack"
    run("cpack", "--config", build / "CPackConfig.cmake", "-B", scratch, cwd=build,
        stdout=subprocess.DEVNULL)
    for path in sorted(scratch.glob("*.*deb")):
        # CPack names packages of debug symbols as Ubuntu does; Debian's tools want .deb.
        path.rename(packages / path.with_suffix(".deb").name)
    shutil.rmtree(scratch)


def static(build, packages):
    """A folder with the stripped program and the licences of what is in it, and its archive."""
    folder = build / "static"
    program = folder / "bin" / "mortise"
    stripped = build / "mortise-stripped"
    run("strip", "-o", stripped, program)
    licences = folder / "licences"
    shutil.rmtree(licences, ignore_errors=True)
    licences.mkdir()
    shutil.copy(TREE / "LICENSE", licences / "mortise")
    for package in PACKAGES:
        shutil.copy(f"/usr/share/doc/{package}/copyright", licences / package)
    name = f"mortise-{versions.header_numbers(versions.read(versions.HEADER))}-linux-amd64"
    with gzip.GzipFile(packages / f"{name}.tar.gz", "wb", mtime=commit_time()) as packed:
        with tarfile.open(fileobj=packed, mode="w") as archive:
            for path, inside in [(stripped, "bin/mortise"),
                                 *((one, f"licences/{one.name}")
                                   for one in sorted(licences.iterdir()))]:
                archive.add(path, f"{name}/{inside}", filter=of_nobody)
    stripped.replace(program)


def of_nobody(about):
    about.uid = about.gid = 0
    about.uname = about.gname = "root"
    about.mtime = commit_time()
    about.mode = 0o755 if about.name.endswith("/bin/mortise") else 0o644
    return about


def python(build, packages):
    """Without the shared library: the package finds that of libmortise0, or any other one."""
    source = build / "python"
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(TREE / "python", source, ignore=shutil.ignore_patterns("__pycache__", "*.so*"))
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(max(commit_time(), 315532800))}
    script = "from setuptools.build_meta import build_{0}; build_{0}({1!r})"
    for kind in ("sdist", "wheel"):
        # Debian's Python, which has setuptools and wheel as packages.
        run("/usr/bin/python3", "-c", script.format(kind, str(packages)), cwd=source,
            env=environment, stdout=subprocess.DEVNULL)


def what(path):
    """A few words about a package, and the bytes that it takes when it is installed."""
    if path.suffix == ".deb":
        fields = subprocess.run(["dpkg-deb", "-f", path], capture_output=True, text=True,
                                check=True).stdout
        size = re.search(r"^Installed-Size: (\d+)", fields, re.MULTILINE)[1]
        return re.search(r"^Description: (.*)", fields, re.MULTILINE)[1], int(size) * 1024
    if path.name.endswith("-linux-amd64.tar.gz"):
        with tarfile.open(path) as archive:
            return "the static program", sum(each.size for each in archive)
    return ("the Python package" if path.suffix == ".whl" else "its sources"), None


def table(packages):
    for path in sorted(packages.iterdir()):
        words, installed = what(path)
        takes = f"{installed / 1e6:8.1f} MB" if installed is not None else " " * 11
        print(f"{path.stat().st_size / 1e6:8.2f} MB {takes}  {path.name:<46} {words}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--only", default=",".join(KINDS))
    arguments = parser.parse_args()
    chosen = arguments.only.split(",")
    if unknown := set(chosen) - set(KINDS):
        parser.error(f"there is no {', '.join(sorted(unknown))}: choose from {', '.join(KINDS)}")
    build = arguments.build.resolve()
    packages = build / "packages"
    shutil.rmtree(packages, ignore_errors=True)
    packages.mkdir(parents=True)
    os.umask(0o022)
    os.environ["SOURCE_DATE_EPOCH"] = str(commit_time())
    for kind in chosen:
        {"debian": debian, "static": static, "python": python}[kind](build, packages)
    print("   packed     installed  file")
    table(packages)
    print(f"in {packages}")


if __name__ == "__main__":
    main()
