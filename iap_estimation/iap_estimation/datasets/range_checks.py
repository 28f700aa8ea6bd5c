# SPDX-License-Identifier: BSD-3-Clause
r"""Checks of ranges against their anchors: units, a length common to all, and places that are exchanged or wrong.

Ranges of a moment meet in one point (see `meeting_point`). What those to each anchor are off there in the median is
small where the map is right, though some went around a body. It is compared with what it would be in other units, with
two anchors' places exchanged, and without one that then has another place.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, permutations

import numpy as np

from iap_description.arrays import Array, Booleans
from iap_description.errors import BadInput
from iap_estimation.datasets.dead_ranges import check_alive
from iap_estimation.datasets.range_start import FEWEST, meeting_point
from iap_estimation.virpo.messages import Ranges

UNITS = {  # factors on ranges, and what they would mend
    1e-3: "the ranges are in mm: set key 'ranges.scale' to 0.001",
    1e-2: "the ranges are in cm: set key 'ranges.scale' to 0.01",
    1e3: "the places of key 'anchors' are in mm: write them in metres",
    1e2: "the places of key 'anchors' are in cm: write them in metres",
}
NEAR_UNITS = {0.3048: "feet", 0.5: "ways there and back", 2.0: "halves of the ways"}
MOMENT = 0.5  # longest, in which a tag has one place [s]
MOMENT_RANGES = 15  # at which one ends before
MOMENTS = 20  # that are looked at, over all of the data
MISFIT, FIT = 0.15, 0.05  # mean errors over the anchors' spread: of wrong units, of right ones
LARGE = 0.15  # error of an anchor's ranges in the median, from which on its place is doubted [m]
GAIN = 0.5  # part of the errors that is left once their cause is mended, at most
EXCESSES = np.linspace(-1.0, 1.0, 21)  # common to all ranges, that are tried [m]
FINER = np.linspace(-0.08, 0.08, 9)  # around the best of them [m]
FAR_BELOW = 0.3  # part that is left where several are exchanged, at most
ALIKE = 1.5  # errors over the least, of exchanges that mend as much, as in rooms that are the same from two sides
LEFT = 0.08  # error that is left by the right unit, or an anchor at its right place, at most [m]
MISPLACED = 1.0  # least way between the places of an anchor, of which one is wrong [m]
SUSPECTS, IN_A_RING = (
    8,
    5,
)  # anchors with the largest errors, among which two, or more, may be exchanged


def check_ranges(rounds: Sequence[Ranges], names: Sequence[str], source: str) -> float | None:
    """Refuse ranges in another unit than metres or too long throughout, and maps with two anchors exchanged.

    Args:
        rounds: in order of time.
        names: of the anchors, by their numbers.
        source: to name in errors.

    Returns:
        Median error of ranges where they meet [m]; None where too few come together.

    Raises:
        BadInput: with what mends it.
    """
    check_alive(rounds, names, source)
    moments = list(moments_of(rounds))
    moments = moments[:: max(1, len(moments) // MOMENTS)]
    if not moments:
        return None
    _check_units(moments, source)
    errors = _errors(moments)
    doubted, now = _doubted(errors), _error(errors)
    if doubted:
        causes = (_excess(moments), _exchange(moments, doubted, names), _other_unit(moments))
        least, cause = min(causes, key=lambda each: each[0])
        ring, order = _ring(moments, doubted[:IN_A_RING], names)
        if ring < min(
            max(LEFT, FAR_BELOW * now), GAIN * least
        ):  # many orders explain more than one pair
            least, cause = ring, order
        moved, why = min(_misplaced(moments, doubted, names), default=(np.inf, ""))
        if moved < min(
            LEFT, GAIN * min(least, now)
        ):  # three numbers to fit explain more than one or none
            least, cause = moved, why
        if least < GAIN * now:
            raise BadInput(
                f"{source}: ranges do not fit the anchors (off by {now:.2f} m), but would (by {least:.2f} m) {cause}"
            )
    return now


def moments_of(rounds: Sequence[Ranges]) -> Iterator[Ranges]:
    """Ranges of short times as one round each, where they are to enough anchors."""
    waiting: list[Ranges] = []
    for one in rounds:
        if waiting and one.t - waiting[0].t > MOMENT:
            waiting = []
        waiting.append(one)
        if sum(len(each.ranges) for each in waiting) >= MOMENT_RANGES:
            joined = _joined(waiting)
            if len(np.unique(joined.anchors)) >= FEWEST:
                yield joined
            waiting = []


def _joined(rounds: Sequence[Ranges]) -> Ranges:
    return Ranges(
        float(np.mean([each.t for each in rounds])),
        np.concatenate([each.anchors for each in rounds]),
        np.vstack([each.p_W for each in rounds]),
        np.concatenate([each.ranges for each in rounds]),
        np.concatenate([each.deviations for each in rounds]),
    )


def _off(moment: Ranges) -> Array:
    """Excess (n,) of the ranges of a moment over the distances from the point where they meet [m]."""
    p = meeting_point([moment], "ranges of a moment")
    off: Array = moment.ranges - np.linalg.norm(p - moment.p_W, axis=1)
    return off


def _errors(moments: Sequence[Ranges]) -> dict[int, Array]:
    """Errors of the ranges to every anchor [m]."""
    off = np.concatenate([_off(moment) for moment in moments])
    anchors = np.concatenate([moment.anchors for moment in moments])
    return {int(one): off[anchors == one] for one in np.unique(anchors)}


def _check_units(moments: Sequence[Ranges], source: str) -> None:
    def misfit(factor: float) -> float:
        scaled = [_scaled(moment, factor) for moment in moments]
        spread = max(float(np.linalg.norm(np.ptp(one.p_W, axis=0))) for one in moments)
        return float(np.median(np.abs(np.concatenate(list(map(_off, scaled)))))) / spread

    now = misfit(1.0)
    if now < MISFIT:
        return
    others = {factor: misfit(factor) for factor in UNITS}
    best = min(others, key=lambda factor: others[factor])
    if others[best] < FIT:
        raise BadInput(
            f"{source}: ranges do not fit the anchors, but would with a factor of {best:g}: {UNITS[best]}"
        )


def _other_unit(moments: Sequence[Ranges]) -> tuple[float, str]:
    """Error that is left with the ranges in a unit that is near a metre [m, as they are], and what it asks for.

    A unit is right where it leaves `LEFT` at most: a scale to choose makes a misfit of any cause smaller.
    """
    left = {
        factor: _error(_errors([_scaled(each, factor) for each in moments])) / min(factor, 1.0)
        for factor in NEAR_UNITS
    }
    best = min(left, key=lambda factor: left[factor])
    least = left[best] if left[best] * min(best, 1.0) < LEFT else np.inf
    return least, f"as {NEAR_UNITS[best]}: set key 'ranges.scale' to {best:g}"


def _excess(moments: Sequence[Ranges]) -> tuple[float, str]:
    """Error that is left where all ranges are shorter or longer by the same length [m], and what it asks for."""

    def error(excess: float) -> float:
        return _error(_errors([_shortened(moment, excess) for moment in moments]))

    coarse = min(EXCESSES, key=error)
    excess = float(min(coarse + FINER, key=error))
    return error(excess), (
        f"if all were {abs(excess):.2f} m {'shorter' if excess > 0.0 else 'longer'}, as with a delay of their"
        f" antennas: set key 'bias' of every anchor to {excess:.2f}"
    )


def _shortened(moment: Ranges, excess: float) -> Ranges:
    ranges = np.maximum(moment.ranges - excess, 0.0)
    return Ranges(moment.t, moment.anchors, moment.p_W, ranges, moment.deviations)


def _scaled(moment: Ranges, factor: float) -> Ranges:
    sigma = moment.deviations * factor
    return Ranges(moment.t, moment.anchors, moment.p_W, moment.ranges * factor, sigma)


def _doubted(errors: dict[int, Array]) -> list[int]:
    """Anchors whose ranges are far off in the median, the worst first."""
    medians = {one: float(np.median(np.abs(off))) for one, off in errors.items()}
    far = [one for one in medians if medians[one] > LARGE]
    if not far:
        return []
    return sorted(medians, key=lambda one: -medians[one])[:SUSPECTS]


def _exchange(
    moments: Sequence[Ranges], doubted: Sequence[int], names: Sequence[str]
) -> tuple[float, str]:
    """Error that is left where two of the doubted anchors are exchanged [m], and what it asks for."""
    errors = {
        (a, b): _error(_errors([_exchanged(moment, moments, a, b) for moment in moments]))
        for a, b in combinations(doubted, 2)
    }
    least = min(errors.values(), default=np.inf)
    likely = [
        pair for pair in sorted(errors, key=lambda p: errors[p]) if errors[pair] < ALIKE * least
    ]
    pairs = ", or ".join(f"{names[a]} and {names[b]}" for a, b in likely)
    return least, f"with two exchanged: {pairs}; exchange them back in key 'anchors'"


def _ring(
    moments: Sequence[Ranges], doubted: Sequence[int], names: Sequence[str]
) -> tuple[float, str]:
    """Error that is left where three or more of the doubted anchors have each other's places [m], and what it asks."""
    few = moments[:: max(1, len(moments) // (MOMENTS // 2))]

    def error(order: Sequence[int], of: Sequence[Ranges]) -> float:
        places = {a: _place(moments, b) for a, b in zip(doubted, order, strict=True)}
        return _error(_errors([_replaced(moment, places) for moment in of]))

    orders = [each for each in permutations(doubted) if _moved(doubted, each) > 2]
    best = min(orders, key=lambda order: error(order, few), default=None)
    if best is None:
        return np.inf, ""
    where = ", ".join(
        f"{names[a]} where {names[b]} is" for a, b in zip(doubted, best, strict=True) if a != b
    )
    return error(best, moments), f"with several exchanged: {where}; write them so in key 'anchors'"


def _moved(these: Sequence[int], those: Sequence[int]) -> int:
    """Number of anchors that are others."""
    return sum(a != b for a, b in zip(these, those, strict=True))


def _misplaced(
    moments: Sequence[Ranges], doubted: Sequence[int], names: Sequence[str]
) -> Iterator[tuple[float, str]]:
    """Errors that are left where one of the doubted anchors stands elsewhere [m], and what they ask for."""
    for one in doubted:
        pairs = [(moment, _to(moment, moment.anchors != one)) for moment in moments]
        others = [rest for _, rest in pairs if len(np.unique(rest.anchors)) >= FEWEST]
        if len(others) < FEWEST or len(others) < len(pairs):
            continue
        points = [meeting_point([rest], "ranges of a moment") for rest in others]
        own = [_to(moment, moment.anchors == one) for moment, _ in pairs]
        seen = _joined(
            [
                Ranges(
                    each.t,
                    each.anchors,
                    np.tile(p, (len(each.ranges), 1)),
                    each.ranges,
                    each.deviations,
                )
                for p, each in zip(points, own, strict=True)
            ]
        )
        moved = float(np.linalg.norm(meeting_point([seen], "anchor") - _place(moments, one)))
        if moved > MISPLACED:
            left = _errors(others) | {one: _off(seen)}
            yield (
                _error(left),
                (
                    f"if {names[one]} stood {moved:.1f} m from where it is said to be: correct its place in key"
                    " 'anchors', or leave it out"
                ),
            )


def _to(moment: Ranges, which: Booleans) -> Ranges:
    """Some of the ranges of a moment."""
    return Ranges(
        moment.t, moment.anchors[which], moment.p_W[which], moment.ranges[which], moment.deviations[which]
    )  # fmt: skip


def _error(errors: dict[int, Array]) -> float:
    """Median error of the ranges to an anchor, in the mean over anchors [m]."""
    return float(np.mean([np.median(np.abs(off)) for off in errors.values()]))


def _exchanged(moment: Ranges, moments: Sequence[Ranges], a: int, b: int) -> Ranges:
    """A moment with the places of two anchors exchanged."""
    return _replaced(moment, {a: _place(moments, b), b: _place(moments, a)})


def _replaced(moment: Ranges, places: Mapping[int, Array]) -> Ranges:
    """A moment with other places of some anchors."""
    p = moment.p_W.copy()
    for anchor, place in places.items():
        p[moment.anchors == anchor] = place
    return Ranges(moment.t, moment.anchors, p, moment.ranges, moment.deviations)


def _place(moments: Sequence[Ranges], anchor: int) -> Array:
    """Place (3,) of an anchor."""
    places = (one.p_W[one.anchors == anchor] for one in moments)
    place: Array = next(each[0] for each in places if len(each))
    return place
