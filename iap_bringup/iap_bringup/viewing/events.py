# SPDX-License-Identifier: BSD-3-Clause
"""Events of a flight: contact, faults, latches, joints, loads, estimators, and what a person did."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from iap_bringup.pictures.grasp import Grasp
from iap_description.vehicles.faults import has_come
from iap_io.runs.fault_meta import notices
from iap_io.runs.run_meta import RunMeta

MOST_LINES = 12  # of a list that is shown


class Event(NamedTuple):
    """Something that happened at a time [s]."""

    t: float
    text: str


class Happenings(NamedTuple):
    """Content of a flight up to an instant, of which events are made.

    Attributes:
        t: the instant [s].
        contacts: times of first contacts by the names of vehicles [s].
        grasp: of an object by a gripper; None so far.
        metrics: in the shape of metrics.json, whose parts have lists ``events``.
    """

    t: float
    contacts: Mapping[str, float]
    grasp: Grasp | None
    metrics: Mapping[str, Any]


def events_until(meta: RunMeta, happened: Happenings) -> list[Event]:
    """Events of a flight up to an instant, in their order."""
    events = [
        Event(notice.t, notice.text.partition(": ")[2])
        for each in meta.vehicles
        for notice in notices(each.name, each.faults, each.losses)
        if has_come(notice.t, happened.t)
    ]
    several = len(meta.vehicles) > 1
    events += [
        Event(t, f"first contact of {name}" if several else "first contact")
        for name, t in happened.contacts.items()
    ]
    grasp = happened.grasp
    if grasp is not None:
        events.append(Event(grasp.start, f"{grasp.object} taken"))
        if grasp.end <= happened.t:
            events.append(Event(grasp.end, f"{grasp.object} let go"))
    events += _metric_events(happened.metrics)
    return sorted(events, key=lambda each: each.t)


def _metric_events(metrics: Mapping[str, Any], whose: str = "") -> Iterator[Event]:
    """Events of tasks and estimators: every list ``events`` of records with a time ``t_s``."""
    vehicles = metrics.get("vehicles", {})
    estimators = metrics.get("methods", {})
    for key, part in {**metrics, **estimators}.items():
        if not isinstance(part, dict):
            continue
        for each in part.get("events", ()):
            if isinstance(each, dict) and "t_s" in each:
                words = [v for v in each.values() if isinstance(v, str)]
                yield Event(float(each["t_s"]), f"{whose}{key}: {' '.join(words)}")
    for name, its in vehicles.items():
        yield from _metric_events(its, f"{name}, ")


def as_html(events: Sequence[Event]) -> str:
    """Lines of a panel, the newest first."""
    lines = [f"<div>{each.t:.2f} s&ensp;{escape(each.text)}</div>" for each in events[::-1]]
    more = len(lines) - MOST_LINES
    if more > 0:
        lines = [*lines[:MOST_LINES], f"<div>and {more} before</div>"]
    text = "".join(lines) or "<div>none so far</div>"
    return f'<div style="font-size:0.8em;padding:0 0.6em 0.5em">{text}</div>'
