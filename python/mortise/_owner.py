"""What the classes have in common that own something in the library."""

from __future__ import annotations

from typing import Any, NoReturn


class Owner:
    """Has no copies: each of them would free the same thing, in the worst case in another process,
    where the address means something else."""

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError(f"{type(self).__name__} cannot be copied or pickled: it belongs to this "
                        "process, and has one owner")
