"""Finds the shared library, and refuses one that this package cannot call."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
from ctypes import Structure, byref, c_char_p, c_int, c_void_p
from pathlib import Path
from typing import Iterable, Optional

VERSION = "0.2.0"  # of this package
# The version of the symbols of mortise.h, which embed/exports.map.in gives them.
_BINARY_INTERFACE = b"MORTISE_0"
# The interface is stable from this version on; before, it could differ in each version.
_FROZEN = (0, 2, 0)


class _DlInfo(Structure):
    _fields_ = [("file", c_char_p), ("base", c_void_p), ("symbol", c_char_p), ("at", c_void_p)]


def load(functions: Iterable[str]) -> ctypes.CDLL:
    """The library, which has these functions."""
    problems = []
    for path in _candidates():
        try:
            library = ctypes.CDLL(path)
        except OSError as problem:
            problems.append(str(problem))
            continue
        if why := _unfit(library, functions):
            path = _path_of(library)
            raise ImportError(f"{path} {why}", name="mortise", path=path)
        return library
    raise ImportError("the shared library of Mortise was not found; set MORTISE_LIBRARY to its "
                      "path: " + "; ".join(problems))


def _candidates() -> list[str]:
    if named := os.environ.get("MORTISE_LIBRARY"):
        return [named]
    here = Path(__file__).parent
    found = [str(path) for path in (here / "libmortise.so.0", here / "libmortise.so")
             if path.exists()]
    return [*found, "libmortise.so.0", ctypes.util.find_library("mortise") or "libmortise.so"]


def _unfit(library: ctypes.CDLL, functions: Iterable[str]) -> Optional[str]:
    """Why this package cannot call the library, in words that follow its path, or None."""
    ours = f"the Python package mortise {VERSION}"
    if not hasattr(library, "mortise_version"):
        return f"is no library of Mortise, which {ours} needs"
    library.mortise_version.restype = c_char_p
    library.mortise_version.argtypes = []
    version = library.mortise_version().decode(errors="replace")
    said = f"is version {version} of the library, and {ours} needs"
    if _is_too_old(version):
        return f"{said} {VERSION} or a later one"
    if _number(VERSION) < _FROZEN and version != VERSION:
        return f"{said} {VERSION}, because the interface is stable from 0.2.0 on only"
    if not _has_our_interface(library):
        return f"{said} one with the binary interface {_BINARY_INTERFACE.decode()}"
    missing = [name for name in functions if not hasattr(library, name)]
    return f"{said} one that has {missing[0]}()" if missing else None


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _is_too_old(version: str) -> bool:
    try:
        return _number(version) < _number(VERSION)
    except ValueError:
        return True


def _has_our_interface(library: ctypes.CDLL) -> bool:
    """Whether the symbols have the version of our interface. A C library without versions of
    symbols cannot tell, and then it is believed."""
    find = getattr(ctypes.CDLL(None), "dlvsym", None)
    if find is None:
        return True
    find.restype = c_void_p
    find.argtypes = [c_void_p, c_char_p, c_char_p]
    return bool(find(library._handle, b"mortise_version", _BINARY_INTERFACE))


def _path_of(library: ctypes.CDLL) -> str:
    """Where the loader found it."""
    found = _DlInfo()
    locate = getattr(ctypes.CDLL(None), "dladdr", None)
    if locate is None or not hasattr(library, "mortise_version"):
        return str(library._name)
    locate.restype = c_int
    locate.argtypes = [c_void_p, ctypes.POINTER(_DlInfo)]
    address = ctypes.cast(library.mortise_version, c_void_p)
    return os.fsdecode(found.file) if locate(address, byref(found)) else str(library._name)
