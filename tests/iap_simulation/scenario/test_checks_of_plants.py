# SPDX-License-Identifier: BSD-3-Clause
"""What a firmware can fly and modules need of rates and engines, each refusal by its key."""

from types import SimpleNamespace
from typing import Any

import pytest

from iap_description.errors import BadInput
from iap_description.states import Mode
from iap_simulation.scenario.firmware_checks import check_firmware, law_of
from iap_simulation.scenario.plant_checks import check_modules
from iap_simulation.scenario.resolving import Options, resolve


def flown(**changes: Any) -> tuple[Any, Any, Any]:
    """A scenario, its vehicle and its firmware, as far as they are looked at."""
    firmware = SimpleNamespace(rate_hz=changes.pop("rate_hz", 250.0))
    control = SimpleNamespace(
        state_source=changes.pop("source", "truth"), wrench_mode=changes.pop("mode", "none")
    )
    vehicle = SimpleNamespace(
        control=control, platform=SimpleNamespace(count=changes.pop("count", 1))
    )
    scenario = SimpleNamespace(
        rates=SimpleNamespace(physics_hz=1000.0),
        plant=SimpleNamespace(type=changes.pop("plant", "bodies")),
        modules=changes.pop("modules", None),
    )
    assert not changes
    return scenario, vehicle, firmware


@pytest.mark.parametrize(
    "changes",
    [{}, {"rate_hz": 1000.0}, {"rate_hz": 1000.0 / 3.0}, {"count": 3, "mode": "selective"}],
)
def test_a_firmware_flies_bodies_by_a_rate_that_divides_that_of_the_physics(changes):
    check_firmware(*flown(**changes))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"rate_hz": 2000.0},
            r"'firmware\.rate_hz': 2000 does not divide rates\.physics_hz, 1000",
        ),
        ({"rate_hz": 300.0}, r"'firmware\.rate_hz': 300 does not divide rates\.physics_hz, 1000"),
        ({"source": "virpo"}, r"'control\.state_source': .* not by virpo"),
        ({"plant": "identified"}, r"'plant\.type': a firmware flies bodies"),
        ({"modules": "a chain"}, "'modules': a firmware does not fly joined modules"),
        ({"mode": "selective"}, r"'control\.wrench_mode': a firmware of one aircraft takes no"),
    ],
)
def test_what_a_firmware_cannot_fly_is_refused_by_its_key(changes, said):
    with pytest.raises(ValueError, match=f"^key {said}"):
        check_firmware(*flown(**changes))


def law(*, firmware: str | None = "px4", mode: Mode = Mode.RPM, asked: str = "auto", count: int = 1,
        tilts: bool = True, rotors: int = 4) -> str:  # fmt: skip
    vehicle: Any = SimpleNamespace(name="a", firmware=firmware, control=SimpleNamespace(law=asked))
    actuation = SimpleNamespace(mode=mode, tilts_to_push=tilts, law="rigid")
    fleet = [SimpleNamespace(turns_itself=rotors == 4)] * count
    model: Any = SimpleNamespace(actuation=actuation, count=count, fleet=fleet)
    return law_of(vehicle, model)


def test_a_firmware_is_commanded_by_attitude_and_thrust_and_others_as_they_are_asked_to():
    assert law() == law(asked="attitude") == "attitude"
    assert law(firmware=None) == law(mode=Mode.ATTITUDE_THRUST) == "auto"
    assert law(asked="my.module:Law") == "my.module:Law"
    for changes, why in (
        ({"asked": "five"}, "the law 'five' commands rotor speeds"),
        ({"tilts": False}, "pushes sideways without tilting"),
        ({"count": 2}, "its 2 aircraft are one rigid body"),
        ({"count": 2, "rotors": 3}, "one multirotor in 2 parts"),
    ):
        with pytest.raises(BadInput, match=rf"vehicle 'a': key 'firmware': .*{why}"):
            law(**changes)


def coordinated(rate: float, engine: str = "mujoco", joints: object = ("j1",)) -> Any:
    return SimpleNamespace(
        modules=SimpleNamespace(joints=joints, rate=rate),
        rates=SimpleNamespace(control_hz=200.0),
        engine=SimpleNamespace(name=engine),
    )


def test_modules_are_coordinated_at_a_rate_that_divides_that_of_control():
    for rate in (200.0, 40.0, 25.0):
        check_modules(coordinated(rate))
    with pytest.raises(
        ValueError, match=r"'modules\.rate': 30 Hz does not divide the control's 200"
    ):
        check_modules(coordinated(30.0))


def test_joints_of_modules_need_an_engine_that_has_them():
    check_modules(coordinated(40.0, "closed_form", ()))
    check_modules(SimpleNamespace(modules=None, rates=SimpleNamespace(control_hz=200.0)))
    with pytest.raises(ValueError, match=r"'engine\.name': closed_form has no joints"):
        check_modules(coordinated(40.0, "closed_form"))


@pytest.mark.parametrize(
    ("name", "assignments", "key"),
    [
        ("hover", ("control.law=velocity",), r"control\.law"),
        ("hover", ("draw.joints_deg=1.0",), r"draw\.joints_deg"),
        ("hover", ("policy=script",), "policy"),
    ],
)
def test_bodies_have_nothing_of_what_takes_velocities(name, assignments, key):
    with pytest.raises(BadInput, match=f"key '{key}'"):
        resolve(name, Options(assignments=assignments))
