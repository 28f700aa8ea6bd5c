# SPDX-License-Identifier: BSD-3-Clause
"""Bars of modules that take flights of their own: engines side by side, a push, an unequal force, speed."""

import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from iap_bringup.experiments.rows import Bar
from iap_control.modules.exchange import JointState
from iap_description.arrays import Array
from iap_physics.plant.disturbances import Disturbance
from iap_simulation.modules.monitor import ModulesMonitor
from iap_simulation.scenario.resolving import resolved
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.simulation.simulation import Simulation

SHORT_HOVER_TIME = 20.0  # hover of flights that are compared between engines, or timed [s]
LONG_HOVER_TIME = 40.0  # hover after which an unequal force is settled [s]
IN_AIR = {"start.mode": "hover", "start.lead_in": 0.0}  # of a vehicle
# What these bars are of is no matter of sensors: places are noisy, twists exact.
EXACT_TWISTS = {
    "vehicles.*.sensors": "none",
    "vehicles.*.control.state_source": "truth",
    "vehicles.*.state_noise": {
        "position": 0.01,
        "attitude_deg": 0.17,
        "velocity": 0.0,
        "rate_deg": 0.0,
    },
}
PUSH = {"force": [0.0, 16.0, 0.0], "torque": [0.0, 0.0, 0.0]}  # across the axis [N, N m],
PUSH_DURATION = 0.3  # [s]
PUSH_DELAY = 0.1  # after the approach has begun [s]
DEVIATION_BAR = 0.15  # least distance by which the push moves a follower aside [m]
END_FORCE = 2.0  # force on one end of three modules [N]


def flight_bars(*, quick: bool) -> Iterator[Bar]:
    """All of them."""
    yield from _engine_bars()
    yield from push_bars()
    yield from unequal_bars()
    yield _speed_bar(4 if quick else 8)


def _engine_bars() -> Iterator[Bar]:
    """PyBullet beside MuJoCo."""
    wrenches = {}
    for compensation in ("none", "default"):
        ours, theirs = (
            _hovered({"engine.name": name, "modules.compensation": compensation}).columns
            for name in ("pybullet", "mujoco")
        )
        wrenches[compensation] = [_end(each, SHORT_HOVER_TIME) for each in (ours, theirs)]
        far = float(np.abs(ours["errors"] - theirs["errors"])[..., :3].max())
        yield Bar(f"engines, {compensation}: places off by, mm", 1e3 * far, 2.0)
    a, b = wrenches["none"]
    for what, part in (("force", slice(0, 3)), ("torque", slice(3, 6))):
        off = 100.0 * _size((a - b)[part]) / _size(a[part])
        yield Bar(f"engines, none: {what} in the joint off by, %", off, 5.0)
    a, b = wrenches["default"]
    yield Bar("engines, default: force in the joint off by, N", _size((a - b)[:3]), 0.05)


def push_bars() -> Iterator[Bar]:
    """A docking, and the same one with a push in its approach."""
    begun = next(e.t for e in _docked([]).source.course.events if e.state == JointState.APPROACH)
    at = begun + PUSH_DELAY
    docking = _docked([{"at": at, "until": at + PUSH_DURATION, **PUSH}])
    course, columns = docking.source.course, docking.columns
    (returns,) = course.returns.values()
    t, aside = columns["t"], np.abs(columns["errors"][:, 0, 1])
    far = float(aside[(t > at) & (t < at + 5.0)].max())
    yield Bar("pushed in the approach: aside by, m", far, DEVIATION_BAR, at_least=True)
    yield Bar("pushed in the approach: returns to alignment", returns, 1, at_least=True)
    joined = sum(e.state == JointState.JOINED for e in course.events)
    yield Bar("pushed in the approach: docks then", joined, 1, at_least=True)


def _docked(pushes: list[dict[str, Any]]) -> ModulesMonitor:
    """The monitor of a docking of seed 1."""
    return _fly("module_docking", {"vehicles.0.disturbances": pushes})


def unequal_bars() -> Iterator[Bar]:
    """A force on one end of three: 2/3 and 1/3 of it stay in the joints by (39), none where they measure."""
    theory = END_FORCE * np.array([2.0, 1.0]) / 3.0
    span = {"at": 5.0, "until": 2.0 * LONG_HOVER_TIME}
    push = Disturbance(**span, force=(0.0, END_FORCE, 0.0), torque=(0.0, 0.0, 0.0))
    for source in ("observer", "joint"):
        settings = {**EXACT_TWISTS, "modules.count": 3, "modules.wrench_source": source}
        scenario, _ = resolved("module_hover", _hover_settings(settings, LONG_HOVER_TIME), {})
        first, *others = scenario.vehicles
        first = first.model_copy(update={"disturbances": (push,)})
        pushed = scenario.model_copy(update={"vehicles": (first, *others)})
        columns = _fly(pushed, {}).columns
        left = np.abs(
            columns["joint_wrenches"][columns["t"] > 0.75 * LONG_HOVER_TIME].mean(axis=0)[:, 1]
        )
        if source == "observer":
            off = float(np.abs(left / theory - 1.0).max())
            what = ", ".join(f"{each:.2f}" for each in left)
            yield Bar(
                f"2 N on one end of three: leaves {what} N, off theory by, %", 100 * off, 5.0
            )
        else:
            what = "2 N on one end of three, joints measure: leaves, N"
            yield Bar(what, float(left.max()), 0.05)


def _speed_bar(count: int) -> Bar:
    """Speed of a chain by what it senses, by the time that processors were busy for it."""
    with Simulation.of(
        "module_hover", settings=_hover_settings({"modules.count": count}, SHORT_HOVER_TIME)
    ) as chain:
        chain.step()  # compiles what is not
        start = time.process_time()
        chain.fly()
        spent = time.process_time() - start
    return Bar(
        f"n = {count}: times real time, on one core", SHORT_HOVER_TIME / spent, 3.0, at_least=True
    )


def _hovered(settings: Mapping[str, Any]) -> ModulesMonitor:
    """The monitor of a short hover that begins in the air."""
    return _fly("module_hover", _hover_settings({**EXACT_TWISTS, **settings}, SHORT_HOVER_TIME))


def _fly(scenario: str | Scenario, settings: Mapping[str, Any]) -> ModulesMonitor:
    with Simulation.of(scenario, settings=settings) as simulation:
        simulation.fly()
        return _monitor(simulation)


def _monitor(simulation: Simulation) -> ModulesMonitor:
    task = simulation.task
    if not isinstance(task, ModulesMonitor):
        raise TypeError("the monitor of modules is expected")
    return task


def _hover_settings(settings: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    """Settings of a hover of so long that begins in the air."""
    start = {f"vehicles.0.{key}": value for key, value in IN_AIR.items()}
    return {**start, "vehicles.0.reference.duration": seconds, **settings}


def _end(columns: Mapping[str, Array], seconds: float) -> Array:
    """(6,) mean wrench in the first joint over the last quarter of a hover [N, N m]."""
    last = columns["t"] > 0.75 * seconds
    return np.asarray(columns["joint_wrenches"][last, 0].mean(axis=0))


def _size(vector: Array) -> float:
    return float(np.linalg.norm(vector))
