# SPDX-License-Identifier: BSD-3-Clause
"""Bodies and propellers of vehicles as parts of a picture."""

from iap_description.geometry.tessellation import MeshPart, parts_by_color
from iap_description.vehicles.body import Body

BODY_LABEL = 100  # of the first body in segmented images


def body_parts(body: Body, *, label: int = BODY_LABEL) -> tuple[MeshPart, ...]:
    """The visible parts of a body in its frame, propellers included unless they tilt: one for each of its colours."""
    turning = body.propellers() if body.tilt is None else ()
    return parts_by_color(body.name, (*body.visual, *turning), label)


def propeller_parts(body: Body, *, label: int = BODY_LABEL) -> tuple[MeshPart, ...]:
    """The visible parts of one of a body's propellers in the frame of its rotor."""
    return parts_by_color(body.name, body.propeller, label)
