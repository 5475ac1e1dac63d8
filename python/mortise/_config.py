"""The configuration of a node."""

from __future__ import annotations

import os
import weakref
from typing import Callable, Optional, Union

from . import _callbacks
from ._enums import LogLevel
from ._library import LOG_CALLBACK, call, encoded, lib, made


class Config:
    """The configuration of a node; made by one of its class methods. Errors are InvalidArgument or
    SystemFailure, and name the file, the line and the key."""

    def __init__(self, handle: Optional[int]) -> None:
        self._handle = handle
        self._free = weakref.finalize(self, lib.config_free, handle)
        self._free.atexit = False

    @classmethod
    def from_file(cls, path: Union[str, os.PathLike[str]]) -> Config:
        """Reads a TOML file."""
        name = os.fsencode(path)
        return cls(made(lib.config_from_file, name, len(name)))

    @classmethod
    def from_string(cls, toml: str) -> Config:
        """Reads TOML text."""
        text = encoded(toml)
        return cls(made(lib.config_from_string, text, len(text)))

    @classmethod
    def from_environment(cls) -> Config:
        """Reads the variables MORTISE_NODE_ID, MORTISE_PEER_LIST and so on."""
        return cls(made(lib.config_from_environment))

    @classmethod
    def single_node(cls, data_dir: Union[str, os.PathLike[str]]) -> Config:
        """A cluster of one node, whose locks are in that directory."""
        name = os.fsencode(data_dir)
        return cls(made(lib.config_single_node, name, len(name)))

    @classmethod
    def in_memory(cls) -> Config:
        """A cluster of one node without a disk, for unit tests."""
        return cls(made(lib.config_in_memory))

    def set_log(self, level: LogLevel,
                sink: Optional[Callable[[LogLevel, str], None]] = None) -> None:
        """The nodes that are opened with this config write lines from `level` on to `sink`, or to
        standard error. It is called on threads of the node, and must not call the node."""
        if sink is None:
            call(lib.config_set_log, self._handle, level, LOG_CALLBACK(), None,
                 _callbacks.DESTROY_CALLBACK())
        else:
            call(lib.config_set_log, self._handle, level, _callbacks.log, _callbacks.keep(sink),
                 _callbacks.destroy)
