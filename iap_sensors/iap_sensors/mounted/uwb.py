# SPDX-License-Identifier: BSD-3-Clause
"""A UWB tag: ranges to anchors and to other tags, with their errors.

Presets are read from ``data/uwb/NAME.yaml`` and ``data/anchors/NAME.yaml``.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
from pydantic import Field, model_validator

from iap_description.arrays import Array, Booleans
from iap_description.config.plain_yaml import read_yaml
from iap_description.config.record import Presets, Record
from iap_description.config.text_files import is_file
from iap_description.config.values import Flag, Hertz, NonNegative, Position, Positive, Share
from iap_description.errors import BadInput, shown
from iap_description.sensors.mounts import SensorMount
from iap_description.sensors.readings import RangeReading, SensorSource
from iap_description.sensors.sensor_info import UwbInfo
from iap_sensors.mounted.mounted_sensors import MountedSensors, RayCaster

Flags = Booleans
PRESETS = Presets(Path(__file__).parents[1] / "data" / "uwb", "UWB")  # their anchors may be a name
ANCHOR_PRESETS = Presets(Path(__file__).parents[1] / "data" / "anchors", "anchors")
CLEARANCE = (
    0.1  # at both ends of a line of sight: what a tag or an anchor is fixed to blocks nothing [m]
)


class Anchor(Record):
    """An anchor that stands in the world."""

    id: Annotated[str, Field(strict=True, min_length=1)]
    position: Position  # in `map` [m]


class Outliers(Record):
    """Ranges that are far off, always too long: the first path was missed."""

    share: Share  # of all ranges
    size: NonNegative  # mean of what they are too long, exponentially distributed [m]


class Obstruction(Record):
    """Errors of a range whose line of sight goes through something that stands in the world."""

    lost: Share  # share of such ranges that do not come at all
    delay: NonNegative  # of the others, which are too long by this [m]
    noise: NonNegative  # and have this standard deviation on top [m]


class UwbSpec(Record):
    r"""A tag, its partners and its errors; iap_simulator V-D has the white noise alone.

    With a `memory` :math:`\tau` the noise is first-order Gauss-Markov, of the same deviation :math:`\sigma`:
    :math:`n_{k+1} = \varphi n_k + \sigma \sqrt{1 - \varphi^2} w_k`, :math:`\varphi = e^{-\Delta / \tau}`
    (Gelb, "Applied Optimal Estimation", 1974, 2.2).
    """

    mount: str  # of the aircraft, where the tag sits
    rate: Hertz  # rounds with all partners [Hz]
    noise: NonNegative  # standard deviation of a range [m]
    memory: Positive | None = None  # correlation time of the noise [s]; None: it is white
    bias: NonNegative  # standard deviation of a constant error, drawn for each partner [m]
    outliers: Outliers
    dropout: Share  # of the ranges that do not come, for no reason
    range_max: Positive  # [m]
    obstruction: Obstruction | None  # None: ranges go through walls
    between_aircraft: Flag  # whether tags range to each other as well
    anchors: tuple[Anchor, ...]

    @model_validator(mode="after")
    def _ids_differ(self) -> Self:
        twice = repeated(anchor.id for anchor in self.anchors)
        if twice is not None:
            raise ValueError(f"key 'anchors': id '{twice}' is given twice")
        return self


class UwbTag:
    """One tag.

    Args:
        source: its topic and frame.
        spec: what it is.
        partners: ids of those it ranges to, the anchors first.
        rng: its own generator, which draws the constant errors first.
    """

    def __init__(
        self,
        source: SensorSource,
        spec: UwbSpec,
        partners: Sequence[str],
        rng: np.random.Generator,
    ) -> None:
        self.source, self._spec, self._ids = source, spec, tuple(partners)
        fixed = [anchor.position for anchor in spec.anchors]
        self._known_W = np.full((len(self._ids), 3), np.nan)
        self._known_W[: len(fixed)] = np.reshape(fixed, (-1, 3))
        self._rng = rng
        self._bias = self._spec.bias * rng.standard_normal(len(self._ids))
        self._kept: tuple[float, Array] | None = None  # time [s] and deviates of the last round

    def measure(self, t: float, p_WT_W: Array, p_WO_W: Array, is_clear: Flags) -> RangeReading:
        """One round of ranges.

        Args:
            t: its time [s].
            p_WT_W: (3,) place of the tag [m].
            p_WO_W: (n, 3) places of the partners [m].
            is_clear: (n,) whether the line of sight to each is free.
        """
        spec = self._spec
        distance = np.linalg.norm(p_WO_W - p_WT_W, axis=1)
        white, extra = self._rng.standard_normal((2, len(self._ids)))
        lucky, kept, arrived = self._rng.random((3, len(self._ids)))
        late = self._rng.standard_exponential(len(self._ids))
        error = self._bias + spec.noise * self._correlated(t, white)
        error += spec.outliers.size * late * (lucky < spec.outliers.share)
        valid = (kept >= spec.dropout) & (distance <= spec.range_max)
        if spec.obstruction is not None:
            through = ~is_clear
            error += through * (spec.obstruction.delay + spec.obstruction.noise * extra)
            valid &= is_clear | (arrived >= spec.obstruction.lost)
        ranges = np.where(valid, np.maximum(distance + error, 0.0), np.nan)
        deviations = np.full(len(self._ids), spec.noise)
        return RangeReading(self.source, t, self._ids, self._known_W, ranges, deviations, valid)

    def _correlated(self, t: float, white: Array) -> Array:
        """Deviates (n,) of variance 1 that remember those of the round before, from white ones."""
        if self._spec.memory is None:
            return white
        if self._kept is not None:
            share = math.exp(-(t - self._kept[0]) / self._spec.memory)
            white = share * self._kept[1] + math.sqrt(1.0 - share * share) * white
        self._kept = t, white
        return white


class UwbTags(MountedSensors):
    """The tags of one vehicle, one on each aircraft; they range to the anchors and to each other."""

    KEY, SPEC, PRESETS = "uwb", UwbSpec, PRESETS

    @property
    def needs_rays(self) -> bool:
        """True if lines of sight count."""
        return self.spec.obstruction is not None

    def start(self, mounts: Sequence[tuple[SensorMount, np.random.Generator]]) -> None:
        """Make a tag on each mount."""
        anchors = [anchor.id for anchor in self.spec.anchors]
        positions = [anchor.position for anchor in self.spec.anchors]
        self._anchors_W = np.array(positions).reshape(-1, 3)
        frames = [mount.source.frame for mount, _ in mounts] if self.spec.between_aircraft else []
        self._tags = []
        for mount, rng in mounts:
            others = [frame for frame in frames if frame != mount.source.frame]
            self._tags.append(UwbTag(mount.source, self.spec, [*anchors, *others], rng))

    def measure(
        self, t: float, p_WS_W: Array, q_WS: Array, rays: RayCaster | None
    ) -> list[RangeReading]:
        """One round of each tag."""
        partners = [self._partners(i, p_WS_W) for i in range(len(self._tags))]
        clear = self._clear(p_WS_W, partners, rays)
        rows = zip(self._tags, p_WS_W, partners, clear, strict=True)
        return [tag.measure(t, p, others, free) for tag, p, others, free in rows]

    def _partners(self, i: int, p_WS_W: Array) -> Array:
        """Places (n, 3) of those that tag i ranges to."""
        if not self.spec.between_aircraft:
            return self._anchors_W
        return np.vstack([self._anchors_W, np.delete(p_WS_W, i, axis=0)])

    def _clear(self, p_WS_W: Array, partners: list[Array], rays: RayCaster | None) -> list[Flags]:
        """For each tag, whether the lines to its partners are free; all are, where that does not matter."""
        counts = [len(each) for each in partners]
        if not self.needs_rays:
            return [np.ones(count, dtype=bool) for count in counts]
        assert rays is not None  # noqa: S101 - obstruction needs them
        free = clear_lines(rays, np.repeat(p_WS_W, counts, axis=0), np.vstack(partners))
        return np.split(free, np.cumsum(counts)[:-1])

    def info(self, fields: dict[str, Any]) -> UwbInfo:
        """The description of one tag."""
        return UwbInfo(**fields)


def clear_lines(rays: RayCaster, p_WT_W: Array, p_WO_W: Array) -> Flags:
    """True if the lines from places (n, 3) to places (n, 3) [m] are free of what stands in the world."""
    way = p_WO_W - p_WT_W
    length = np.linalg.norm(way, axis=1, keepdims=True)
    share = np.minimum(CLEARANCE / np.maximum(length, 1e-9), 0.5)
    hits = rays.ray_cast(p_WT_W + share * way, p_WO_W - share * way, world_only=True)
    return np.asarray(hits >= 1.0)


def anchor_trees(name_or_tree: object) -> object:
    """The plain list of anchors that a preset's name or a file's path stands for; a list is left as it is.

    Raises:
        BadInput: no such preset or file, a key beside ``anchors`` in it, or an id that is given twice.
    """
    if not isinstance(name_or_tree, str):
        return name_or_tree
    path = (
        Path(name_or_tree)
        if name_or_tree.endswith((".yaml", ".yml"))
        else ANCHOR_PRESETS.folder / f"{name_or_tree}.yaml"
    )
    if not is_file(path):
        raise BadInput(
            f"no anchors '{name_or_tree}': choose {', '.join(ANCHOR_PRESETS.names())}, the path of a YAML file,"
            " or a list of {id, position}"
        )
    tree = read_yaml(path)
    anchors = tree.pop("anchors", None)
    if tree:
        raise BadInput(f"{path}: unknown key {shown(next(iter(tree)))}: only 'anchors' is read")
    if not isinstance(anchors, list):
        raise BadInput(f"{path}: key 'anchors': a list of {{id, position}} is expected")
    twice = repeated(each.get("id") for each in anchors if isinstance(each, dict))
    if twice is not None:
        raise BadInput(f"{path}: key 'anchors': id '{twice}' is given twice")
    return anchors


def repeated(ids: Any) -> str | None:  # noqa: ANN401 - of any kind, from a file
    """The first id that comes again; None if they all differ."""
    different: list[object] = []  # of any type, where a file is wrong
    for each in ids:
        if each in different:
            return str(each)
        different.append(each)
    return None
