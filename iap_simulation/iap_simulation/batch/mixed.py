# SPDX-License-Identifier: BSD-3-Clause
"""Actions of several kinds at once, of which each world takes its own."""

from typing import NamedTuple

import numpy as np

from iap_description.arrays import Integers
from iap_description.errors import BadInput
from iap_description.states import Command
from iap_simulation.batch.references import References


class Mixed(NamedTuple):
    """Some actions on B worlds, and which of them is each world's.

    Attributes:
        actions: references for the suite's controllers, or commands to the aircraft; their arrays have rows for all
            worlds, of which only those count that take the action.
        which: (B,) number of each world's action.
    """

    actions: tuple[References | Command, ...]
    which: Integers

    def checked(self, worlds: int) -> Integers:
        """The numbers of so many worlds' actions.

        Raises:
            BadInput: there are more or fewer, or there is no such action.
        """
        which, count = np.asarray(self.which), len(self.actions)
        if which.shape != (worlds,):
            raise BadInput(
                f"mixed actions: which has shape {which.shape}; {(worlds,)} is expected"
            )
        if not np.issubdtype(which.dtype, np.integer):
            raise BadInput("mixed actions: whole numbers are expected as which")
        if which.min() < 0 or which.max() >= count:
            range_text = f"which goes from {which.min()} to {which.max()}"
            raise BadInput(f"mixed actions: {range_text}, and there are {count} actions from 0 on")
        return which
