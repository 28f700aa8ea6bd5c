# SPDX-License-Identifier: BSD-3-Clause
"""Checks of a data set before it is localised: `CHECKS`, their findings, and the corrections that follow."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_estimation.datasets import image_checks, inertial_checks, stream_checks
from iap_estimation.datasets.accelerometer_axes import accelerometer_axes
from iap_estimation.datasets.data_sample import DataSample, sample_of
from iap_estimation.datasets.dataset import SensorDataset
from iap_estimation.datasets.range_checks import check_ranges
from iap_estimation.datasets.range_motion import check_motion
from iap_estimation.datasets.range_start import FEWEST
from iap_estimation.datasets.stereo_scale import distance_of_pair
from iap_estimation.navigation.measurements import Event, Images
from iap_estimation.navigation.streams import in_order
from iap_estimation.virpo.messages import ImuSample, Ranges

LEAST_DELAY, DEVIATIONS = 0.005, 3.0  # delays that are taken out: longer [s], and surer
UNSURE = 0.02  # deviation of a delay that says nothing [s]
MARGIN = 0.05  # beyond a delay, within which events are sorted [s]
ODD_DEVIATION, LEAST_OFF = 15.0, 0.01  # of deviations over errors where ranges meet [m]
UNEXPLAINED = 0.3  # error of ranges that were checked, of which a note is made [m]
MAX_ANCHORS = 5  # whose orders are tried
ALIKE = 0.3  # distance of places that are turned onto others, within which ranges fit both [m]


@dataclass(frozen=True)
class Corrections:
    """Corrections of a data set's sensors by the user.

    Attributes:
        accel_scale: factor on specific forces; -1 where the sign is flipped. None is 1, and to be doubted.
        gyro_scale: factor on angular velocities.
        image_delay: how late the images' stamps are [s]; None is to be found out.
        begin: time from which on the data count [s].
    """

    accel_scale: float | None = None
    gyro_scale: float = 1.0
    image_delay: float | None = None
    begin: float = -math.inf


@dataclass(frozen=True, eq=False)
class DatasetSummary:
    """A data set as it is to be localised, and what was understood of it.

    Attributes:
        dataset: with corrected sensors.
        record: by sensor, what was understood; of metrics.json.
    """

    dataset: SensorDataset
    record: dict[str, Any]

    @property
    def lines(self) -> list[str]:
        """Lines for the user."""
        return [
            f"{what}: {'; '.join(texts)}" for what, texts in self.record["lines"].items() if texts
        ]


Check = Callable[[DataSample], str | None]
CHECKS: tuple[tuple[str, Check], ...] = (  # what is said, and of which sensor; each may refuse
    ("inertial unit", stream_checks.times),
    ("images", stream_checks.unpaired),
    ("inertial unit", stream_checks.constant),
    ("inertial unit", stream_checks.in_halves),
    ("inertial unit", inertial_checks.force_size),
    ("inertial unit", stream_checks.repeated),
    ("inertial unit", stream_checks.saturated),
    ("inertial unit", inertial_checks.rate_unit),
    ("inertial unit", accelerometer_axes),
    ("clock", stream_checks.truth_in_time),
    ("inertial unit", inertial_checks.vertical_of_truth),
    ("inertial unit", inertial_checks.vertical_of_camera),
    ("inertial unit", inertial_checks.motion_of_truth),
    ("images", image_checks.calibration),
    ("images", image_checks.contents),
    ("images", image_checks.repeated),
)
RANGES: tuple[tuple[str, Check], ...] = (  # the same, once ranges fit their anchors
    ("ranges", check_motion),
)
LATER: tuple[tuple[str, Check], ...] = (  # the same, once images and inertial unit have one clock
    ("images", image_checks.rest_of_one_camera),
    ("images", distance_of_pair),
)


def understand(dataset: SensorDataset, corrections: Corrections) -> DatasetSummary:
    """Look at a data set of others, and take out what its sensors are off; a run of this suite is what it says.

    Raises:
        BadInput: a sensor says what it cannot, with what mends it.
    """
    if dataset.parts:
        return _of_parts(dataset, corrections)
    dataset = corrected(dataset, corrections)
    lines: dict[str, list[str]] = {"inertial unit": [], "images": [], "clock": [], "ranges": []}
    if dataset.clock_doubt is not None and corrections.image_delay is None:
        raise BadInput(f"{dataset.source}: {dataset.clock_doubt}")
    if not dataset.is_foreign:
        return DatasetSummary(dataset, {"lines": lines})
    sample = sample_of(dataset)
    sample.is_scaled = corrections.accel_scale is not None
    if not sample.samples:
        return DatasetSummary(dataset, {"lines": lines})
    lines["inertial unit"].append(f"{_rate(sample.t):.0f} Hz")
    if sample.image_times:
        lines["images"].append(_cameras(sample))
    _look(CHECKS, sample, lines)
    dataset = sample.dataset  # whose truth may be in time now
    if sample.rounds:
        off = check_ranges(sample.rounds, dataset.anchors, dataset.source)
        lines["ranges"].append(_ranges(sample, off))
        _look(RANGES, sample, lines)
    delay, record = _clock(sample, corrections, lines["clock"])
    if delay:
        dataset = corrected(dataset, Corrections(image_delay=delay))
        sample.pairs = [each.earlier(delay) for each in sample.pairs]
    _look(LATER, sample, lines)
    return DatasetSummary(dataset, {"lines": lines, **record})


def _of_parts(dataset: SensorDataset, corrections: Corrections) -> DatasetSummary:
    """The understanding of each aircraft of a data set with parts, which have sensors of their own."""
    names = [one.name for one in dataset.aircraft]
    each = {n: understand(part, corrections) for n, part in zip(names, dataset.parts, strict=True)}
    lines = {
        f"{name}, {what}": texts
        for name, summary in each.items()
        for what, texts in summary.record["lines"].items()
    }
    records = {
        name: {key: value for key, value in summary.record.items() if key != "lines"}
        for name, summary in each.items()
    }
    truths = {name: summary.dataset.aircraft[0].truth for name, summary in each.items()}
    aircraft = tuple(replace(one, truth=truths[one.name]) for one in dataset.aircraft)
    whole = corrected(replace(dataset, aircraft=aircraft), corrections)
    for number, record in enumerate(records.values()):
        delay = record.get("image_delay_taken_out_s")
        if delay:
            whole = corrected(whole, Corrections(image_delay=delay), number)
    return DatasetSummary(whole, {"lines": lines, "aircraft": records})


def _look(
    checks: tuple[tuple[str, Check], ...], sample: DataSample, lines: dict[str, list[str]]
) -> None:
    for what, check in checks:
        line = check(sample)
        lines[what] += [] if line is None else [line]


def _clock(
    sample: DataSample, corrections: Corrections, lines: list[str]
) -> tuple[float, dict[str, float | None]]:
    """The delay of the images that is to be taken out [s], and what is known of it."""
    if not sample.image_times:
        return 0.0, {}
    if corrections.image_delay is not None:
        lines.append(f"images {_late(corrections.image_delay)}, as given")
        return 0.0, {"image_delay_s": corrections.image_delay}
    found = image_checks.delay_of(sample)
    if found is None or found.deviation > UNSURE:
        lines.append(
            "nothing turns enough to say whether images are late: --image-delay SECONDS, if so"
        )
        return 0.0, {"image_delay_s": None}
    text = f"images {_late(found.value)} +- {1e3 * found.deviation:.1f} ms by their turns and the gyroscope's"
    is_sure = abs(found.value) >= max(LEAST_DELAY, DEVIATIONS * found.deviation)
    delay = found.value if is_sure else 0.0
    lines.append(
        f"{text}: {'taken out (--image-delay 0 leaves it)' if is_sure else 'left as they are'}"
    )
    return delay, {
        "image_delay_s": found.value,
        "image_delay_deviation_s": found.deviation,
        "image_delay_taken_out_s": delay,
    }


def _late(delay: float) -> str:
    return f"{abs(1e3 * delay):.1f} ms {'late' if delay >= 0.0 else 'early'}"


def _rate(t: np.ndarray) -> float:
    return float(1.0 / np.median(np.diff(t))) if len(t) > 1 else 0.0


def _cameras(sample: DataSample) -> str:
    pair = sample.dataset.aircraft[0].cameras
    size = f"{pair.left.width}x{pair.left.height} at {_rate(np.array(sample.image_times)):.0f} Hz"
    kind = f"{pair.left.lens.model}, {size}"
    if pair.right is None:
        return f"one camera, {kind}"
    return f"a pair {np.linalg.norm(pair.p_RL_R):.3f} m apart, {kind}"


def _ranges(sample: DataSample, off: float | None) -> str:
    count = sum(len(each.ranges) for each in sample.rounds)
    heard_of = np.unique(np.concatenate([each.anchors for each in sample.rounds]))
    fit = "too few at a time to be compared" if off is None else f"they meet within {off:.2f} m"
    texts = (f"{count} to {len(heard_of)} of {len(sample.dataset.anchors)} anchors", fit)
    return "; ".join((*texts, *range_doubts(sample.rounds, off)))


def corrected(
    dataset: SensorDataset, corrections: Corrections, aircraft: int | None = None
) -> SensorDataset:
    """A data set with corrected sensors, of all aircraft or of one; itself where nothing is to be corrected."""
    if corrections == Corrections():
        return dataset
    return replace(dataset, events=partial(_corrected, dataset, corrections, aircraft))


def _corrected(
    dataset: SensorDataset, corrections: Corrections, aircraft: int | None
) -> Iterator[Event]:
    delay = corrections.image_delay or 0.0
    events = (
        _scaled(event, corrections, delay) if aircraft in (None, event[0]) else event
        for event in dataset.events()
    )
    ordered = in_order(events, abs(delay) + MARGIN) if delay else events
    return (event for event in ordered if event[1].t >= corrections.begin)


def _scaled(event: Event, corrections: Corrections, delay: float) -> Event:
    who, measured = event
    if isinstance(measured, ImuSample):
        w, f = (
            corrections.gyro_scale * measured.w_B,
            (corrections.accel_scale or 1.0) * measured.f_B,
        )
        return who, ImuSample(measured.t, w, f)
    if isinstance(measured, Images) and delay:
        return who, Images(measured.t - delay, measured.left, measured.right)
    return event


def range_doubts(rounds: Sequence[Ranges], off: float | None) -> Iterator[str]:
    """Yield what ranges cannot tell, or do not fit, in words.

    Args:
        rounds: in order of time.
        off: of `check_ranges` [m].
    """
    anchors = np.concatenate([each.anchors for each in rounds])
    _, first = np.unique(anchors, return_index=True)
    if indistinct_orders(np.concatenate([each.p_W for each in rounds])[first]):
        yield "which anchor is which cannot be checked: they stand as before if some are exchanged"
    if off is not None and off > UNEXPLAINED:
        yield f"off by {off:.2f} m, which no unit, length or exchange explains: are ids and places right?"
    usual = float(np.median(np.concatenate([each.deviations for each in rounds])))
    if off is not None and not 1.0 / ODD_DEVIATION < usual / max(off, LEAST_OFF) < ODD_DEVIATION:
        yield f"their deviation of {usual:.3g} m is far from how they meet, within {off:.3g} m: is it in metres?"


def indistinct_orders(places: Array) -> list[tuple[int, ...]]:
    """Orders of anchors in which they stand as they do now, turned or mirrored: no range tells these apart.

    Args:
        places: (n, 3) of up to `MAX_ANCHORS` anchors [m]; of more none is looked for.
    """
    count = len(places)
    if not FEWEST <= count <= MAX_ANCHORS:
        return []
    mean = places - places.mean(axis=0)
    orders = [each for each in permutations(range(count)) if each != tuple(range(count))]
    return [order for order in orders if _misfit(mean, mean[list(order)]) < ALIKE]


def _misfit(places: Array, others: Array) -> float:
    """Largest distance of places (n, 3) from others that are turned or mirrored onto them [Kabsch1976] [m]."""
    U, _, V = np.linalg.svd(others.T @ places)
    return float(np.linalg.norm(places - others @ U @ V, axis=1).max())
