# SPDX-License-Identifier: BSD-3-Clause
"""Ranges to anchors that were not there: made from the truth of a recording, with noise, for methods that need ranges.

.. code-block:: yaml

    anchors: {a: [4.0, 4.0, 0.3], b: [-4.0, 4.0, 2.5], c: [-4.0, -4.0, 0.3]}   # [m], in the truth's world
    rate: 10.0                      # rounds [Hz]
    deviation: 0.1                  # of a range [m]
    antenna: [0.0, 0.0, 0.0]        # place of the tag on the inertial unit [m]
    range_max: 50.0                 # [m]
    seed: 1                         # of the noise
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from heapq import merge
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field

from iap_description.arrays import Array
from iap_description.config.plain_yaml import read_yaml
from iap_description.config.record import Record, validate
from iap_description.config.values import Positive, Vec3
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.math.random_streams import stream
from iap_estimation.datasets.dataset import SensorDataset
from iap_estimation.evaluation.trajectory_errors import poses_at
from iap_estimation.navigation.fleet_data import AircraftData
from iap_estimation.navigation.measurements import Event
from iap_estimation.virpo.messages import Ranges

PREFIX = "virtual:"
LONGEST_GAP = 0.2  # of the truth over which ranges are made [s]
MAX_RATE = 1000.0  # [Hz]


class VirtualAnchors(Record):
    """Anchors and noise; see this module's example."""

    anchors: Annotated[dict[str, Vec3], Field(min_length=1, max_length=1000)]
    rate: Annotated[float, Field(strict=True, gt=0.0, le=MAX_RATE)] = 10.0
    deviation: Positive = 0.1
    antenna: Vec3 = (0.0, 0.0, 0.0)
    range_max: Positive = 50.0
    seed: Annotated[int, Field(strict=True, ge=0, lt=2**63)] = 1


@dataclass(frozen=True, eq=False)
class _Tag:
    """True distances (K, n) [m] of an aircraft's tag from all anchors, at times (K,) [s]."""

    aircraft: int
    t: Array
    distances: Array


def with_virtual_ranges(dataset: SensorDataset, choice: str) -> SensorDataset:
    """A data set with ranges that are made from its truth.

    Args:
        dataset: with the truth of every aircraft, and without ranges.
        choice: ``virtual:FILE``.

    Raises:
        BadInput: it is no such choice, the file is wrong, or the data set has no truth, or ranges of its own.
    """
    if not choice.startswith(PREFIX):
        raise BadInput(f"--ranges {choice}: expected {PREFIX}FILE, a YAML file with anchors")
    file = Path(choice.removeprefix(PREFIX))
    virtual = validate(VirtualAnchors, read_yaml(file), source=str(file))
    if dataset.has_ranges:
        raise BadInput(f"--ranges {choice}: {dataset.source} has ranges of its own")
    p_W, antenna = np.array(list(virtual.anchors.values())), np.array(virtual.antenna)
    tags = [_tag(k, each, p_W, virtual, dataset) for k, each in enumerate(dataset.aircraft)]
    count = sum(len(tag.t) for tag in tags)
    note = (
        f"--ranges: {count} rounds of ranges to {len(p_W)} virtual anchors are made from the truth,"
        f" with {virtual.deviation:g} m of noise"
    )
    return replace(
        dataset,
        aircraft=tuple(replace(each, p_BA_B=antenna) for each in dataset.aircraft),
        events=partial(_events, dataset, tags, p_W, virtual),
        has_ranges=True,
        anchors=tuple(virtual.anchors),
        notes=(*dataset.notes, note),
    )


def _tag(
    number: int,
    aircraft: AircraftData,
    p_W: Array,
    virtual: VirtualAnchors,
    dataset: SensorDataset,
) -> _Tag:
    """The tag of an aircraft.

    Raises:
        BadInput: its truth is not known, or is not of the world of the estimates.
    """
    truth = aircraft.truth
    if truth is None or len(truth.t) < 2 or truth.is_turned:
        raise BadInput(f"--ranges: the truth of {aircraft.name} of {dataset.source} is not known")
    arm_B = np.array(virtual.antenna) - truth.p_BM_B
    if arm_B.any() and not truth.has_attitude:
        raise BadInput(
            f"--ranges: key 'antenna': the truth of {aircraft.name} has no attitude, so its place"
            f" must be the truth's own, {truth.p_BM_B.tolist()}"
        )
    t = truth.t[0] + np.arange(int((truth.t[-1] - truth.t[0]) * virtual.rate) + 1) / virtual.rate
    after = np.searchsorted(truth.t, t).clip(1, len(truth.t) - 1)
    t = t[(truth.t[after] - truth.t[after - 1] <= LONGEST_GAP) & (t <= truth.t[-1])]
    poses = poses_at(t, truth.t, truth.poses)
    tag_W = poses[:, :3]
    if arm_B.any():
        tag_W = tag_W + so3.rotate(poses[:, 3:], np.broadcast_to(arm_B, (len(t), 3)))
    return _Tag(number, t, np.linalg.norm(tag_W[:, None] - p_W, axis=-1))


def _events(
    dataset: SensorDataset, tags: Sequence[_Tag], p_W: Array, virtual: VirtualAnchors
) -> Iterator[Event]:
    """The data set's own events, and the rounds of ranges where they belong in time."""
    rounds = merge(
        *(_rounds(tag, p_W, virtual, dataset.aircraft[tag.aircraft].name) for tag in tags),
        key=lambda event: event[1].t,
    )
    waiting = next(rounds, None)
    for event in dataset.events():
        while waiting is not None and waiting[1].t < event[1].t:
            yield waiting
            waiting = next(rounds, None)
        yield event


def _rounds(
    tag: _Tag, p_W: Array, virtual: VirtualAnchors, name: str
) -> Iterator[tuple[int, Ranges]]:
    """Rounds of ranges with noise; the same each time."""
    rng = stream(virtual.seed, f"virtual ranges of {name}")
    noise = virtual.deviation * rng.standard_normal(tag.distances.shape)
    for t, true, off in zip(tag.t.tolist(), tag.distances, noise, strict=True):
        there = np.flatnonzero(true <= virtual.range_max)
        if len(there):
            ranges = np.maximum(true[there] + off[there], 0.0)
            deviations = np.full(len(there), virtual.deviation)
            yield tag.aircraft, Ranges(t, there, p_W[there], ranges, deviations)
