# SPDX-License-Identifier: BSD-3-Clause
"""How a flight ends, and vehicles that are put elsewhere, by numbers worked out by hand."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from state_rows import row

from iap_description.errors import FlightFailed
from iap_description.math import so3
from iap_description.world.obstacles import Obstacles
from iap_physics.engines.engine import OBJECT, WORLD
from iap_physics.session.flight_monitor import FlightMonitor, is_upside_down
from iap_physics.session.placement import moved


class Trees(Obstacles):
    """Obstacles without any."""

    def hulls(self) -> Any:
        """None."""
        return ()


def touch(a: int, b: int, distance: float = -0.001) -> Any:
    return SimpleNamespace(body_a=a, body_b=b, distance=distance)


def plant(*contacts: Any, t: float = 1.0, pushes: Any = (), rows: Any = None) -> Any:
    """Two vehicles of two bodies each: rows 0, 1 and 2, 3."""
    state = row() if rows is None else rows
    return SimpleNamespace(
        t=t, engine=SimpleNamespace(contacts=lambda: contacts), state=lambda i: state[None, None],
        vehicle_of=lambda body: body // 2, contact_wrench=lambda i: np.array(pushes or [0.0]),
        propulsion=[SimpleNamespace(rows=slice(0, 2)), SimpleNamespace(rows=slice(2, 4))],
    )  # fmt: skip


def vehicle(name: str, **keys: Any) -> Any:
    bodies = [SimpleNamespace(name="base"), SimpleNamespace(name="drone_1")]
    values = {
        "may_land": False,
        "lost_after": None,
        "push_hold": None,
        "assembly": SimpleNamespace(bodies=bodies),
    }
    return SimpleNamespace(name=name, **{**values, **keys})


def monitor(latches: Any = None, **keys: Any) -> FlightMonitor:
    objects = {"wall": SimpleNamespace(), "trees": Trees.model_construct()}
    spec = SimpleNamespace(
        vehicles=[vehicle("one", **keys), vehicle("two")], latches=latches or {}, dt=0.5,
        world=SimpleNamespace(objects=objects),
    )  # fmt: skip
    return FlightMonitor(spec)  # type: ignore[arg-type]


def test_two_vehicles_collide_once_a_pair_and_only_where_they_overlap() -> None:
    watch = monitor()
    watch.check_flight(plant(touch(0, 2, 0.001)))
    assert watch.collision_records == []
    for t in (1.0, 2.0):
        watch.check_flight(plant(touch(0, 2), touch(OBJECT, OBJECT - 1), t=t))
    assert watch.collision_records == [{"t_s": 1.0, "vehicles": ["one", "two"]}]


def test_those_that_a_latch_or_a_structure_holds_together_may_touch() -> None:
    latched = monitor({"l": SimpleNamespace(vehicles=("one", "two"))})
    held = monitor()
    held.structure_of = lambda i: {0, 1}
    apart = monitor()
    apart.structure_of = lambda i: {i}
    for watch, count in ((latched, 0), (held, 0), (apart, 1)):
        watch.check_flight(plant(touch(1, 2)))
        assert len(watch.collisions) == count


@pytest.mark.parametrize(
    ("contact", "keys", "words"),
    [
        (touch(3, 2), {}, "base and drone_1 of two have collided"),
        (touch(WORLD, 0), {}, "one hit the ground"),
        (touch(0, WORLD), {"may_land": True}, None),
        (touch(0, OBJECT), {}, None),  # the central body may push
        (touch(1, OBJECT), {}, "an aircraft of one hit an object"),
        (touch(0, OBJECT - 1), {}, "one hit an obstacle"),
        (touch(0, WORLD, 0.001), {}, None),
    ],
)
def test_a_touch_ends_the_flight_of_who_must_not(
    contact: Any, keys: dict, words: str | None
) -> None:
    watch = monitor(**keys)
    if words is None:
        watch.check_flight(plant(contact))
        return
    with pytest.raises(FlightFailed, match=words) as failed:
        watch.check_flight(plant(contact))
    assert (failed.value.outcome, failed.value.t) == ("crashed", 1.0)
    assert (len(watch.collisions) == 1) == ("have collided" in words)


def test_who_comes_down_in_an_emergency_may_touch_the_ground() -> None:
    watch = monitor()
    watch.landing.add(0)
    watch.check_flight(plant(touch(0, WORLD)))
    assert watch.landed == {0}
    with pytest.raises(FlightFailed, match="two hit the ground"):
        watch.check_flight(plant(touch(2, WORLD)))


def test_a_platform_beyond_a_right_angle_is_upside_down() -> None:
    for axis in (0, 1):
        for degrees, expected in ((89.0, False), (91.0, True)):
            assert (
                bool(is_upside_down(row(turn=np.radians(degrees) * np.eye(3)[axis]))) == expected
            )
    assert not is_upside_down(row(turn=[0.0, 0.0, 3.0]))
    with pytest.raises(FlightFailed, match="one is upside down"):
        monitor().check_flight(plant(rows=row(turn=[2.0, 0.0, 0.0])))


@pytest.mark.parametrize(
    ("touched", "hold", "since", "is_lost"),
    [
        (0, 1.0, 9.0, False),
        (1, 1.0, 2.0, False),
        (1, 1.0, 2.1, True),
        (2, 1.0, 9.0, False),
        (1, None, 2.1, True),
    ],
)
def test_a_push_that_has_lost_its_contact_for_good_has_failed(
    touched: int, hold: float | None, since: float, is_lost: bool
) -> None:
    """Each touch lasts for half a second; one whole second of contact is enough."""
    watch = monitor(lost_after=2.0, push_hold=hold)
    for k in range(touched):
        watch.check_flight(plant(t=0.5 * k, pushes=[0.0, 3.0]))
    last = plant(t=0.5 * max(touched - 1, 0) + since)
    if not is_lost:
        watch.check_flight(last)
        return
    with pytest.raises(FlightFailed, match="one lost its contact") as failed:
        watch.check_flight(last)
    assert failed.value.outcome == "contact_lost"


def test_a_vehicle_is_moved_as_one_rigid_body() -> None:
    x = np.stack(
        [
            row([1.0, 2.0, 3.0], v=[1.0, 0.0, 0.0]),
            row([2.0, 2.0, 3.0], v=[0.0, 1.0, 0.0], w=[1.0, 0.0, 0.0]),
        ]
    )
    yaw = so3.quaternion_exp(np.array([0.0, 0.0, np.pi / 2]))
    turned = moved(x, np.concatenate([[5.0, 6.0, 7.0], yaw]), None)
    np.testing.assert_allclose(turned[:, :3], [[5.0, 6.0, 7.0], [5.0, 7.0, 7.0]], atol=1e-12)
    np.testing.assert_allclose(turned[:, 7:10], [[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]], atol=1e-12)
    np.testing.assert_allclose(turned[1, 10:], [0.0, 1.0, 0.0], atol=1e-12)
    pushed = moved(x, None, np.array([1.0, 1.0, 0.0, 0.0, 0.0, 2.0]))
    np.testing.assert_allclose(pushed[:, 7:], [[1, 1, 0, 0, 0, 2], [1, 3, 0, 0, 0, 2]])
    np.testing.assert_array_equal(pushed[:, :7], x[:, :7])
