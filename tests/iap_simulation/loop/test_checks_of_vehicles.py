# SPDX-License-Identifier: BSD-3-Clause
"""What modules, pairs and single vehicles are refused before a flight, and the wrench that one acts upon."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flying import scenario_of

from iap_description.errors import BadInput
from iap_description.vehicles.assembly import Assembly
from iap_simulation.docking.pair_laws import _own_share, docking_limits
from iap_simulation.docking.ports import pair_of, pair_vehicles
from iap_simulation.modules.coordination import (
    check_flown_by_hand,
    coordination_spec,
    stiffness_of,
    weight_of,
)
from iap_simulation.modules.pairs import _alone, _spec
from iap_simulation.vehicles import parts
from iap_simulation.vehicles.interaction import InteractionControl

# modules and pairs


def test_modules_are_coordinated_by_nodes_without_policies_and_silent_controllers() -> None:
    scenario = scenario_of("module_docking", engine="mujoco")
    spec = scenario.modules
    assert spec is not None
    silent = spec.model_copy(update={"faults": (SimpleNamespace(kind="controller"),)})
    for changes, said in (
        ({"modules": None}, "key 'modules': missing, nothing to coordinate"),
        ({"policy": "own.zip"}, r"key 'policy': guides modules in one process alone \(iap run\)"),
        ({"modules": silent}, r"key 'modules\.faults': kind controller is for one process"),
    ):
        with pytest.raises(BadInput, match=f"^{said}"):
            coordination_spec(scenario.model_copy(update=changes))
    with pytest.raises(
        BadInput, match="no vehicle 'x' to fly by hand: choose m1, m2|no vehicle 'x'"
    ):
        check_flown_by_hand(scenario, "x")
    check_flown_by_hand(scenario_of("hover"), "iap")


def test_a_module_weighs_its_mass_and_is_as_stiff_as_its_gains() -> None:
    inertia = SimpleNamespace(mass=2.5)
    vehicle: Any = SimpleNamespace(model=SimpleNamespace(inertia=inertia))
    world: Any = SimpleNamespace(world=SimpleNamespace(gravity=9.0))
    assert weight_of(world, vehicle) == 22.5
    for per_inertia, scale in ((True, 2.5), (False, 1.0)):
        gains = SimpleNamespace(per_inertia=per_inertia, kP=(1.0, 2.0, 4.0, 9.0, 9.0, 9.0))
        spec: Any = SimpleNamespace(control=SimpleNamespace(gains=gains))
        assert stiffness_of(spec, vehicle) == (scale, 2.0 * scale, 4.0 * scale)


def test_a_pair_of_modules_has_one_open_joint_and_flies_in_the_closed_form() -> None:
    scenario = scenario_of("module_docking", engine="mujoco")
    spec = _spec(scenario)
    assert spec is scenario.modules
    ((name, joint),) = spec.joints.items()
    joined = {"joints": {name: joint.model_copy(update={"joined": True})}}
    for changes, said in (
        ({"modules": None}, "two vehicles and one joint of key 'modules' are expected"),
        ({"vehicles": scenario.vehicles[:1]}, "two vehicles and one joint"),
        ({"modules": spec.model_copy(update={"joints": {}})}, "two vehicles and one joint"),
        ({"modules": spec.model_copy(update=joined)}, "its joint is joined from the start"),
    ):
        with pytest.raises(BadInput, match=f"^scenario '{scenario.scenario}': {said}"):
            _spec(scenario.model_copy(update=changes))
    second = _alone(scenario, 1)
    assert second.vehicles == scenario.vehicles[1:] and second.modules is None
    assert second.engine.name == "closed_form"


def test_worlds_of_dockings_have_two_plain_vehicles_and_a_latch_that_stays() -> None:
    scenario = scenario_of("docking", engine="mujoco")
    spec = scenario.docking
    assert spec is not None
    ((name, latch),) = scenario.latches.items()
    (target, chaser), by = pair_of(scenario)
    names = [vehicle.name for vehicle in scenario.vehicles]
    assert by == name and names[target] == latch.socket.split("/")[0]
    assert names[chaser] == latch.probe.split("/")[0]
    assert pair_vehicles(scenario, spec) == (target, chaser)
    first, second = scenario.vehicles
    off = first.model_error.model_copy(update={"com": (0.0, 0.1, 0.0)})
    for changes, said in (
        ({"vehicles": (first,)}, "two vehicles and one latch that stays"),
        ({"latches": {name: latch, "other": latch}}, "two vehicles and one latch that stays"),
        ({"latches": {name: latch.model_copy(update={"release": 1.0})}}, "one latch that stays"),
        ({"vehicles": (first, second.model_copy(update={"faults": (1,)}))}, f"shifted CoMs: '{names[1]}'"),
        ({"vehicles": (first.model_copy(update={"model_error": off}), second)}, f"CoMs: '{names[0]}'"),
        *(({"draw": scenario.draw.model_copy(update={key: 0.1})}, "draw no com, force, torque or")
          for key in ("com", "force", "torque", "friction")),
    ):  # fmt: skip
        with pytest.raises(BadInput, match=f"^docking: worlds side by side .*{said}"):
            pair_vehicles(scenario.model_copy(update=changes), spec)
    with pytest.raises(BadInput, match="key 'policy': scenario 'hover' has no key 'docking'"):
        pair_of(scenario_of("hover"))
    limits = docking_limits(scenario)
    assert limits.within == spec.success.within and limits.fatal_force == np.inf
    assert limits.away == limits.seconds == np.inf


def test_a_vehicle_s_share_of_a_pair_s_inertia_is_by_the_parallel_axis_theorem() -> None:
    J = np.diag([0.1, 0.2, 0.3])
    share = _own_share(J, 2.0, np.array([0.0, 0.0, 0.6]))
    assert share == pytest.approx([0.1 / 0.28, 0.2 / 0.38, 1.0])


# vehicles


def standing(y: float = 0.0, *, offset: float = 0.0, replays: bool = False) -> Any:
    from iap_control.references.motions import Replay

    reference = Replay.model_construct() if replays else None
    platform = SimpleNamespace(ground_clearance=0.2, name="f450")
    return SimpleNamespace(
        name="a", platform=platform, offset=(1.0, 0.5, offset), reference=reference
    )


def test_a_reference_may_be_two_centimetres_below_where_a_platform_stands() -> None:
    t, p = (
        np.array([0.0, 0.5, 1.0]),
        np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 0.1801], [0.0, 0.0, 2.0]]),
    )
    parts._check_height(standing(), t, p)
    p[1, 2] = 0.1799
    with pytest.raises(BadInput) as error:
        parts._check_height(standing(offset=0.1), t, p)
    assert str(error.value) == (
        "vehicle 'a': its reference goes down to z = 0.180 m at t = 0.50 s, where f450 stands on the ground at"
        " 0.200 m: --set 'offset=[1,0.5,0.43]' raises it"
    )
    with pytest.raises(BadInput, match=r"raises it; --convention ned reads NED/FRD$"):
        parts._check_height(standing(replays=True), t, p)
    p[:, 1] = [0.0, 1.0, -0.01]
    with pytest.raises(BadInput, match=r"reads NED/FRD, y-up takes y as the height$"):
        parts._check_height(standing(replays=True), t, p)


def test_a_recorded_command_may_ask_for_a_quarter_more_than_all_thrusts_at_an_instant() -> None:
    limits = np.array([[0.0, 0.0], [10.0, 14.0]])
    model: Any = SimpleNamespace(
        rotor_limits=limits, inertia=SimpleNamespace(mass=2.0, gravity=9.0)
    )
    t = np.array([0.0, 0.25])
    parts._check_thrust(standing(), model, t, np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 5.99]]))
    with pytest.raises(
        BadInput, match=r"asks for 6\.0 m/s\^2 at t = 0\.25 s, and f450 has thrust for 12\.0 "
    ):
        parts._check_thrust(standing(), model, t, np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 6.01]]))


def test_faults_strike_before_a_flight_ends() -> None:
    def flown(*times: float) -> Any:
        vehicles = [
            SimpleNamespace(faults=(SimpleNamespace(at=0.0), SimpleNamespace(at=t))) for t in times
        ]
        return SimpleNamespace(vehicles=vehicles)

    parts.check_times(flown(4.99, 4.99), 5.0)
    with pytest.raises(BadInput, match=r"^key 'faults\.1\.at': 5 s, but the flight ends at 5 s$"):
        parts.check_times(flown(5.0), 5.0)
    with pytest.raises(BadInput, match=r"^key 'vehicles\.1\.faults\.1\.at': 6 s, but the flight"):
        parts.check_times(flown(1.0, 6.0), 5.0)


@pytest.mark.parametrize(
    ("source", "which"), [("raw", 1.0), ("filtered", 2.0), ("estimated", 3.0)]
)
def test_the_wrench_that_is_acted_upon_is_the_one_that_was_chosen(
    source: str, which: float
) -> None:
    scenario = scenario_of("wall_push", f"control.wrench_source={source}", engine="mujoco")
    vehicle = scenario.vehicles[0]
    assembly = Assembly.of(vehicle.platform, vehicle.name)
    control = InteractionControl.of(scenario, vehicle, assembly)
    control.sensor.raw_P[:], control.sensor.filtered_P[:], control.estimated_P[:] = 1.0, 2.0, 3.0
    assert (control.measured_P == which).all()
    record = control.wrench_record
    assert record.estimated_P[0] == 3.0
    control.reset()
    assert not control.estimated_P.any() and control.task is None
