"""The configuration of a node."""

from __future__ import annotations

import os
from typing import Optional, Union

from . import _log
from ._arguments import encoded, int32
from ._enums import LogLevel
from ._library import DESTROY_CALLBACK, LOG_CALLBACK, ConfigHandle, call, lib, made
from ._owner import Owner


class Config(Owner):
    """The configuration of a node; made by one of its class methods. Errors are InvalidArgument or
    SystemFailure, and name the file, the line and the key."""

    def __init__(self, handle: ConfigHandle) -> None:
        self._handle = handle

    @classmethod
    def from_file(cls, path: Union[str, os.PathLike[str]]) -> Config:
        """Reads a TOML file."""
        name = os.fsencode(path)
        return cls(made(ConfigHandle, lib.config_from_file, name, len(name)))

    @classmethod
    def from_string(cls, toml: str) -> Config:
        """Reads TOML text."""
        text = encoded(toml)
        return cls(made(ConfigHandle, lib.config_from_string, text, len(text)))

    @classmethod
    def from_environment(cls) -> Config:
        """Reads the variables MORTISE_NODE_ID, MORTISE_PEER_LIST and so on."""
        return cls(made(ConfigHandle, lib.config_from_environment))

    @classmethod
    def single_node(cls, data_dir: Union[str, os.PathLike[str]]) -> Config:
        """A cluster of one node, whose locks are in that directory."""
        name = os.fsencode(data_dir)
        return cls(made(ConfigHandle, lib.config_single_node, name, len(name)))

    @classmethod
    def in_memory(cls) -> Config:
        """A cluster of one node without a disk, for unit tests."""
        return cls(made(ConfigHandle, lib.config_in_memory))

    def set_log(self, level: LogLevel, sink: Optional[_log.Sink] = None) -> None:
        """The nodes that are opened with this config write lines from `level` on to `sink`, or to
        standard error.

        A thread of its own calls sink(level, line), a moment after the line was written. 4096 lines
        may wait for it; then lines are dropped, and one of level WARN says how many. What the sink
        raises goes to threading.excepthook. Nodes that are opened in the child of a fork with a
        config of the parent have no sink.
        """
        number = int32(level, "level")
        if sink is None:
            call(lib.config_set_log, self._handle, number, LOG_CALLBACK(), None, DESTROY_CALLBACK())
        else:
            _log.attach(self._handle, number, sink)
