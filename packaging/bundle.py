"""The shared library together with all that it needs, in one folder that may be anywhere.

Debian's static libraries cannot be linked into a shared one, because they are not compiled for it.
So the shared libraries lie beside Mortise's, under names that no other library has: a program may
have loaded another version of them, or does so later (docs/decisions/0100).
"""

import hashlib
import re
import shutil
import subprocess
from pathlib import Path

# What every Linux has: the C library with its loader, and the library of the compiler's C++, which
# keeps its interface.
OF_THE_SYSTEM = re.compile(r"(ld-linux.*|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+))\.so\.\d+$")
PLACE = "libs"  # beside the library


def output_of(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True,
                          text=True).stdout


def run(*command):
    subprocess.run([str(word) for word in command], check=True)


def needed_by(library):
    """The libraries that it needs, directly or not, by the names that they are needed by."""
    found = re.findall(r"^\s*(\S+) => (/\S+)", output_of("ldd", library), re.MULTILINE)
    return {name: Path(path).resolve() for name, path in found if not OF_THE_SYSTEM.match(name)}


def own_name(path):
    """libcrypto.so.3 becomes libcrypto-1f2e3d4c.so.3, by its content."""
    stem, dot, rest = path.name.partition(".so")
    return f"{stem}-{hashlib.sha256(path.read_bytes()).hexdigest()[:8]}{dot}{rest}"


def point_at(file, names, place):
    """Lets the file load the renamed libraries, from a place beside it."""
    renamed = [word for name in output_of("patchelf", "--print-needed", file).split()
               if name in names for word in ("--replace-needed", name, names[name])]
    # Debian's patchelf confuses the names if it does both at once.
    if renamed:
        run("patchelf", *renamed, file)
    run("patchelf", "--force-rpath", "--set-rpath", place, file)


def licence_of(path):
    """The package that the library is of, and its copyright file."""
    # Packages of Debian 12 say /lib where the file is in /usr/lib.
    package = output_of("dpkg", "-S", f"*/{path.parent.name}/{path.name}").split(":")[0]
    return package, Path("/usr/share/doc") / package / "copyright"


def bundle(library, folder, licences):
    """Copies the library into `folder`, what it needs into a folder there, and the licences of that
    into `licences`. Returns the copy."""
    needed = needed_by(library)
    names = {name: own_name(path) for name, path in needed.items()}
    (folder / PLACE).mkdir(parents=True)
    licences.mkdir(parents=True, exist_ok=True)
    for name, path in needed.items():
        copy = folder / PLACE / names[name]
        shutil.copyfile(path, copy)
        run("patchelf", "--set-soname", names[name], copy)
        point_at(copy, names, "$ORIGIN")
        package, terms = licence_of(path)
        shutil.copyfile(terms, licences / package)
    ours = folder / library.name
    run("strip", "--strip-unneeded", "-o", ours, library.resolve())
    point_at(ours, names, f"$ORIGIN/{PLACE}")
    return ours


def oldest_c_library(folder):
    """The version of the C library that the files need: (2, 34)."""
    versions = [tuple(map(int, number.split(".")))
                for path in folder.rglob("*.so*")
                for number in re.findall(r"GLIBC_(\d+\.\d+)", output_of("objdump", "-T", path))]
    return max(versions)
