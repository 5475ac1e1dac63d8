#!/usr/bin/env python3
"""Makes the packages of a build of the preset `package`, and prints what they are.

    packaging/package.py BUILD [--only debian,static,c,python]

They land in BUILD/packages: Debian packages, an archive with the static program, one with the C
library and all that it needs, and the source archive and the wheel of the Python package.
"""

import argparse
import gzip
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TREE / "tools"))

import version as versions  # noqa: E402
from bundle import bundle, oldest_c_library  # noqa: E402

KINDS = ("debian", "static", "c", "python")
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
    archive(packages / f"{name}.tar.gz", [(stripped, f"{name}/bin/mortise"),
                                          (licences, f"{name}/licences")])
    stripped.replace(program)


def archive(path, content):
    with gzip.GzipFile(path, "wb", mtime=commit_time()) as packed:
        with tarfile.open(fileobj=packed, mode="w") as into:
            for each, inside in content:
                into.add(each, inside, filter=of_nobody)


def c(build, packages):
    """A folder with the header, the shared library and what it needs, and its archive."""
    folder = build / "c"
    shutil.rmtree(folder, ignore_errors=True)
    ours = bundle(build / "embed" / "libmortise.so.0", folder / "lib", folder / "licences")
    (ours.parent / "libmortise.so").symlink_to(ours.name)
    shutil.copy(TREE / "LICENSE", folder / "licences" / "mortise")
    headers = TREE / "embed" / "include"
    for header in [headers / "mortise.h", *sorted((headers / "mortise" / "c").glob("*.h"))]:
        copy = folder / "include" / header.relative_to(headers)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(header, copy)
    name = f"mortise-c-{versions.header_numbers(versions.read(versions.HEADER))}-linux-amd64"
    archive(packages / f"{name}.tar.gz", [(folder, name)])


def of_nobody(about):
    about.uid = about.gid = 0
    about.uname = about.gname = "root"
    about.mtime = commit_time()
    is_for_all = about.isdir() or about.name.endswith("/bin/mortise")
    about.mode = 0o755 if is_for_all else 0o644
    return about


def python(build, packages):
    """The wheel has the shared library and all that it needs. The sources have not: installed from
    them, the package finds the library of libmortise0, or any other one."""
    source = build / "python"
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(TREE / "python", source, ignore=shutil.ignore_patterns("__pycache__", "*.so*"))
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(max(commit_time(), 315532800))}
    script = "from setuptools.build_meta import build_{0}; build_{0}({1!r})"
    for kind in ("sdist", "wheel"):
        # Debian's Python, which has setuptools and wheel as packages.
        run("/usr/bin/python3", "-c", script.format(kind, str(packages)), cwd=source,
            env=environment, stdout=subprocess.DEVNULL)
    pure, = packages.glob("*.whl")
    complete(pure, build)


def complete(pure, build):
    """Replaces the wheel by one for this platform, with the library."""
    folder = build / "wheel"
    shutil.rmtree(folder, ignore_errors=True)
    with zipfile.ZipFile(pure) as wheel:
        wheel.extractall(folder)
    bundle(build / "embed" / "libmortise.so.0", folder / "mortise", folder / "mortise" / "licences")
    numbers = "_".join(map(str, oldest_c_library(folder / "mortise")))
    tag = f"py3-none-manylinux_{numbers}_{os.uname().machine}"
    about, = folder.glob("*.dist-info/WHEEL")
    words = about.read_text().replace("Root-Is-Purelib: true", "Root-Is-Purelib: false")
    about.write_text(re.sub(r"^Tag: .*", f"Tag: {tag}", words, flags=re.MULTILINE))
    name = pure.name.replace("py3-none-any", tag)
    pure.unlink()
    # Debian's Python has the module that writes the checksums of the files.
    run("/usr/bin/python3", "-c", "import sys; from wheel.wheelfile import WheelFile\n"
        "with WheelFile(sys.argv[1], 'w') as wheel: wheel.write_files(sys.argv[2])",
        pure.with_name(name), folder)


def what(path):
    """A few words about a package, and the bytes that it takes when it is installed."""
    if path.suffix == ".deb":
        fields = subprocess.run(["dpkg-deb", "-f", path], capture_output=True, text=True,
                                check=True).stdout
        size = re.search(r"^Installed-Size: (\d+)", fields, re.MULTILINE)[1]
        return re.search(r"^Description: (.*)", fields, re.MULTILINE)[1], int(size) * 1024
    if path.name.endswith("-linux-amd64.tar.gz"):
        is_library = path.name.startswith("mortise-c-")
        with tarfile.open(path) as files:
            return ("the C library and what it needs" if is_library else "the static program",
                    sum(each.size for each in files))
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as files:
            return "the Python package", sum(each.file_size for each in files.infolist())
    return "its sources", None


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
        {"debian": debian, "static": static, "c": c, "python": python}[kind](build, packages)
    print("   packed     installed  file")
    table(packages)
    print(f"in {packages}")


if __name__ == "__main__":
    main()
