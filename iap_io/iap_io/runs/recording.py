# SPDX-License-Identifier: BSD-3-Clause
"""How a run is recorded."""

from typing import Literal

from iap_description.config import Flag, Record


class Recording(Record):
    """How a run is recorded.

    Attributes:
        compression: of the images in the bag, without loss.
        euroc: whether the run folder gets a data set in EuRoC's layout as well.
    """

    compression: Literal["none", "png"]
    euroc: Flag


PLAIN = Recording(compression="none", euroc=False)
