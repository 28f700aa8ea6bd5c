# SPDX-License-Identifier: BSD-3-Clause
"""The place of a sensor, a tool's tip or a docking port on its body."""

from typing import Annotated

from pydantic import Field

from iap_description.config.bounds import MAX_LEVER
from iap_description.config.record import Record
from iap_description.config.values import RpyDegrees

Lever = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=-MAX_LEVER, le=MAX_LEVER)]
Lever3 = tuple[Lever, Lever, Lever]  # [m]


class Mount(Record):
    """The place of a sensor, or of another frame, on its body."""

    position: Lever3
    rpy_deg: RpyDegrees
