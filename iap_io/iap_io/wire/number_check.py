# SPDX-License-Identifier: BSD-3-Clause
"""The check of the numbers of messages that anybody may publish: finite, none absurd, unit quaternions, true stamps."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array
from iap_description.config.bounds import MAX_SI_NUMBER, are_plausible, first_odd
from iap_description.errors import BadInput
from iap_io.wire.cdr import HEADER_SIZE, MessageLayout
from iap_io.wire.stamps import SECOND


def load_kernel() -> None:
    """Load what is compiled, before the first message comes."""
    first_odd(np.zeros(4), np.zeros(1, np.intp), np.zeros(0, np.intp))


def check_stamp(seconds: int, nanoseconds: int) -> None:
    """Refuse what is no time.

    Raises:
        BadInput: before 0, or with a second or more of nanoseconds.
    """
    if seconds < 0 or not 0 <= nanoseconds < SECOND:
        raise BadInput(f"header.stamp: {seconds} s and {nanoseconds} ns is no time")


class NumberCheck:
    """Check of the numbers that lie in the bytes of messages of one layout.

    Args:
        layout: of the messages.
        content: (size,) bytes of the present message, encapsulation included, which lie so that numbers are aligned.
        open_fields: fields that are left to others.
        attitudes: whether quaternions are attitudes, of unit length.
    """

    def __init__(
        self,
        layout: MessageLayout,
        content: NDArray[np.uint8],
        open_fields: Sequence[str] = (),
        *,
        attitudes: bool = True,
    ) -> None:
        self._layout = layout
        body = content[HEADER_SIZE:]
        self._doubles: Array = body[: len(body) // 8 * 8].view(np.float64)
        checked = [at for at, name in layout.doubles.items() if _first(name) not in open_fields]
        self._checked = (np.array(checked, np.intp) - HEADER_SIZE) // 8
        firsts = [at for at in layout.quaternions if attitudes]
        self._quaternions = (np.array(firsts, np.intp) - HEADER_SIZE) // 8
        stamp: Any = content.view(layout.dtype)["header"]["stamp"]
        self._sec, self._nanosec = stamp["sec"], stamp["nanosec"]

    def __call__(self) -> None:
        """Check the present message.

        Raises:
            BadInput: names the first field that is wrong, and its value.
        """
        check_stamp(int(self._sec[0]), int(self._nanosec[0]))
        odd = first_odd(self._doubles, self._checked, self._quaternions)
        if odd >= 0:
            raise BadInput(self._reason(odd))

    def _reason(self, at: int) -> str:
        name, value = self._layout.doubles[8 * at + HEADER_SIZE], self._doubles[at]
        if at in self._checked and not are_plausible(self._doubles[at : at + 1]):
            bound = f", beyond {MAX_SI_NUMBER:.0e}" if np.isfinite(value) else ""
            return f"{name} is {value:.4g}{bound}"
        length = float(np.linalg.norm(self._doubles[at : at + 4]))
        return f"{name.rpartition('.')[0]} is no unit quaternion, but {length:.4g} long"


def _first(name: str) -> str:
    """The first field of a name such as ``poses[0].position.x``."""
    return name.partition(".")[0].partition("[")[0]
