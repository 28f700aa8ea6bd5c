# SPDX-License-Identifier: BSD-3-Clause
"""Legend of the colours of a scene."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from iap_bringup.viewing import note_layers, scene_notes
from iap_bringup.viewing.layers import CONTACT_COLOR, THRUST_COLOR
from iap_bringup.viewing.scene import PATH_COLOR, REFERENCE_COLOR
from iap_bringup.viewing.stage import Rgb
from iap_io.runs.run_meta import RunMeta

AXES_COLOR: Rgb = (205, 60, 50)  # of the first axis


class Meaning(NamedTuple):
    """A colour and what is drawn in it."""

    color: Rgb
    text: str


def legend_of(meta: RunMeta, couplings: Sequence[scene_notes.Coupling]) -> Iterator[Meaning]:
    """Meanings of the colours in a flight's scene."""
    yield Meaning(PATH_COLOR, "where vehicles have been")
    yield Meaning(REFERENCE_COLOR, "path of the reference")
    yield Meaning(AXES_COLOR, "axes: the reference")
    yield Meaning(THRUST_COLOR, "thrust")
    if any(each.feels for each in meta.vehicles):
        yield Meaning(CONTACT_COLOR, "force of the environment")
    if any(each.is_estimated for each in meta.vehicles):
        yield Meaning(note_layers.COVARIANCE_COLOR, "estimate, three standard deviations")
    if any(map(scene_notes.has_points, meta.sensors)):
        yield Meaning(note_layers.POINT_COLORS[0], "points that were measured")
    if any(each.kind == "uwb" for each in meta.sensors):
        yield Meaning(note_layers.ANCHOR_COLOR, "anchors of ranges")
    if couplings:
        yield Meaning(scene_notes.OPEN_COLOR, "ball: a latch or joint that is open")
        yield Meaning(scene_notes.MOVING_COLOR, "under way")
        yield Meaning(scene_notes.HELD_COLOR, "closed")
        yield Meaning(scene_notes.LOST_COLOR, "let go, or given up")


def as_html(meanings: Sequence[Meaning]) -> str:
    """Lines of a panel."""
    lines = (
        f'<div><span style="color:rgb{each.color}">&#9632;</span> {each.text}</div>'
        for each in meanings
    )
    return f'<div style="font-size:0.8em;padding:0 0.6em 0.5em">{"".join(lines)}</div>'
