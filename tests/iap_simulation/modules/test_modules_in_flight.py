# SPDX-License-Identifier: BSD-3-Clause
"""Modules in closed loops on an engine: they hover joined without pushing each other, dock, part, and stay."""

from typing import Any

import numpy as np
import pytest

from iap_control.modules.exchange import JointState, LatchOrder, ModuleReports
from iap_description.arrays import Array
from iap_description.errors import BadInput, FlightFailed
from iap_simulation.loop.estimate_monitor import EstimateGuidance
from iap_simulation.modules.monitor import ModulesMonitor
from iap_simulation.simulation.simulation import Simulation

EXACT = {"vehicles.*.sensors": "none", "vehicles.*.control.state_source": "truth"}
NEAR = {  # modules hover, and one stands before its face
    **{f"vehicles.{i}.start.mode": "hover" for i in range(3)},
    **{f"vehicles.{i}.start.lead_in": 0.0 for i in range(3)},
    "vehicles.0.offset": [-0.66, 0.0, 0.0],
}
DOCK_AND_PART = {
    **NEAR,
    "modules.machine.separation.distance": 0.7,
    "modules.mission": [{"hover": 0.2}, {"join": "left"}, {"hover": 2.0}, {"part": "left"}],
}
SHORT_MISSION = {
    "modules.mission": [
        {"hover": 1.0},
        *({"join": joint} for joint in ("left", "right")),
        {"hover": 8.0},
        *({"part": joint} for joint in ("right", "left")),
    ],
    "vehicles.*.reference.duration": 42.0,
}
HOVER = {"vehicles.0.start.mode": "hover", "vehicles.0.start.lead_in": 0.0}
LOSS = 6.0  # at which a module is lost, in a flight that begins in the air [s]


def monitored(scenario: str, settings: dict[str, Any], **options: Any) -> ModulesMonitor:
    """Result of a whole flight."""
    with Simulation.of(scenario, settings=settings, **options) as simulation:
        simulation.fly()
        monitor = simulation.task
        assert isinstance(monitor, ModulesMonitor)
        monitor.metrics(simulation.plant)
        return monitor


def metrics_of(monitor: ModulesMonitor) -> dict[str, Any]:
    """Its metrics, which need no plant any more."""
    return monitor.metrics(None)  # type: ignore[arg-type]


@pytest.mark.slow
def test_without_compensation_they_push_and_the_force_grows() -> None:
    settings = {**HOVER, "vehicles.0.reference.duration": 18.0, "modules.count": 4}
    monitor = monitored("module_hover", {**settings, "modules.compensation": "none"})
    t, wrenches = monitor.columns["t"], monitor.columns["joint_wrenches"][..., :3]
    early, late = (
        np.linalg.norm(wrenches[(t > start) & (t < start + 4.0)].mean(axis=0), axis=-1).max()
        for start in (2.0, 13.0)
    )
    assert early > 0.5
    assert late > early


@pytest.mark.slow
def test_a_flight_that_begins_anew_holds_modules_by_one_joint_that_bears_what_observers_feel() -> (
    None
):
    """A module in rest is held by the joint alone: its wrench is the external one of the follower's momentum."""
    settings = {**HOVER, "modules.count": 2, "modules.compensation": "none"}
    with Simulation.of("module_hover", settings=settings) as simulation:
        simulation.begin()  # as a recorded run does
        while simulation.t < 12.0:
            simulation.step()
        modules = simulation.modules
        assert modules is not None
        borne = modules.joints.wrenches_S()["j1"][:3]
        felt = modules.external_P[1, :3]
        assert np.linalg.norm(felt) > 0.8
        assert np.linalg.norm(borne - felt) < 0.15 * np.linalg.norm(felt)


def test_modules_go_on_from_a_snapshot_as_they_did_and_begin_anew_from_it() -> None:
    settings = {**HOVER, "modules.count": 2}
    with Simulation.of("module_hover", settings=settings) as simulation:
        for _ in range(100):
            simulation.step()
        taken = simulation.snapshot()
        first = [simulation.step().copy() for _ in range(50)][-1]
        simulation.restore(taken)
        np.testing.assert_allclose(
            [simulation.step().copy() for _ in range(50)][-1], first, atol=1e-6
        )
        simulation.restore(taken)
        simulation.begin()
        simulation.step()
        modules = simulation.modules
        assert modules is not None
        assert list(modules.joints.wrenches_S()) == ["j1"]
        simulation.reset()
        simulation.step()


def test_a_module_that_flies_on_an_estimate_tells_its_coordinator_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = {**HOVER, "modules.count": 2, **EXACT}
    off = np.array([0.02, -0.01, 0.0])
    with Simulation.of("module_hover", settings=settings) as simulation:
        loop = simulation.loop

        class Estimate:
            """The truth, but for a drift."""

            def state(self, t: float) -> Array:  # noqa: ARG002 - as of all estimates
                x: Array = loop.plant.state(1)[0].copy()
                x[0, :3] += off
                return x

        modules, told = simulation.modules, []
        assert modules is not None
        update = modules.coordinator.update
        monitor = simulation.participants.monitor
        guidance = EstimateGuidance(loop.vehicles, {1: Estimate()}, {}, monitor)
        monkeypatch.setattr(loop, "guidance", (*loop.guidance, guidance))

        def heard(each: ModuleReports) -> list[LatchOrder]:
            told.append(each.estimates.copy())
            return update(each)

        monkeypatch.setattr(modules.coordinator, "update", heard)
        places = []
        for _ in range(11):
            places.append([loop.plant.state(i)[0, 0, :3].copy() for i in range(2)])
            simulation.step()
    assert len(told) == 3  # the last one at instant 10, by what was estimated at 9
    np.testing.assert_allclose(told[-1][0, :3], places[9][0], atol=1e-12)
    np.testing.assert_allclose(told[-1][1, :3], places[9][1] + off, atol=1e-12)


def test_the_coordinator_sees_places_without_the_bias_that_each_module_has_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Relative poses are measured; each module's own estimate is some centimetres off. It reports at 40 Hz."""
    noise = {"position": 0.0, "attitude_deg": 0.0, "velocity": 0.0, "rate_deg": 0.0}
    settings = {**HOVER, "modules.count": 2}
    settings["vehicles.0.state_noise"] = {**noise, "position_bias": 0.05}
    with Simulation.of("module_hover", settings=settings, state_source="truth") as simulation:
        modules, told = simulation.modules, list[tuple[float, Array, Array]]()
        assert modules is not None
        update = modules.coordinator.update

        def note(each: ModuleReports) -> list[LatchOrder]:
            told.append((each.t, each.estimates.copy(), each.shared.copy()))
            return update(each)

        monkeypatch.setattr(modules.coordinator, "update", note)
        truth = {}
        for _ in range(41):
            truth[round(simulation.t, 6)] = simulation.plant.engine.state()[0, :2, :3].copy()
            simulation.step()
        monitor = simulation.task
        assert isinstance(monitor, ModulesMonitor)
        np.testing.assert_allclose(np.diff(monitor.columns["t"]), 0.025)
    assert len(told) == 9
    for t, estimates, shared in told[1:]:
        before = truth[round(t - 0.005, 6)]
        np.testing.assert_allclose(shared[:, :3], before, atol=1e-3)
        off = np.linalg.norm(estimates[:, :3] - before, axis=1)
        assert (off > 0.01).all()
        assert np.linalg.norm(np.diff(estimates[:, :3] - before, axis=0)) > 0.01


def test_with_printed_signs_they_fly_apart() -> None:
    settings = {**HOVER, "vehicles.0.reference.duration": 15.0, "modules.compensation": "printed"}
    with Simulation.of("module_hover", settings=settings) as simulation:
        with pytest.raises(FlightFailed):
            simulation.fly()
        assert simulation.t < 10.0


@pytest.mark.slow
def test_three_modules_dock_hover_part_and_land() -> None:
    monitor = monitored("module_assembly", SHORT_MISSION)
    metrics = metrics_of(monitor)
    assert monitor.failure is None
    assert metrics["mission_done"]
    for joint in metrics["joints"].values():
        assert joint["force_after_catch_n"] < 0.2
        assert joint["force_n"] < 0.1
        assert joint["released"]["position_m"] < 0.006
    for errors in metrics["rmse"].values():
        assert max(errors[:3]) < 0.011
        assert max(errors[3:]) < 0.008
    states = [e["state"] for e in metrics["events"] if e["joint"] == "left"]
    assert states == ["alignment", "approach", "assembly", "joined", "separation", "apart"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("platform", "engine", "docks"),
    [
        ("beetle_drogue", "pybullet", True),
        ("beetle_drogue", "mujoco", True),
        ("beetle", "pybullet", False),
    ],
)
def test_a_cone_takes_a_follower_home_whom_a_force_holds_off_the_axis(
    platform: str, engine: str, docks: bool
) -> None:
    """3 N aside from the approach on hold it 6 cm off: more than the latch's 2 cm where there is no cone."""
    pytest.importorskip(engine)
    push = {"at": 1.45, "until": 9.0, "force": [0.0, 3.0, 0.0], "torque": [0.0, 0.0, 0.0]}
    settings = {
        **NEAR,
        "vehicles.0.disturbances": [push],
        "modules.mission": [{"hover": 0.2}, {"join": "left"}],
    }
    options = {"platform": platform, "engine": engine, "duration": 5.5}
    monitor = monitored("module_assembly", settings, **options)
    assert (metrics_of(monitor)["joints"]["left"]["caught_s"] is not None) == docks
    assert (monitor.failure is None) == docks
    if not docks:
        assert monitor.columns["errors"][-1, 0, 1] > 0.04


@pytest.mark.slow
def test_a_release_does_not_kick_with_compensation_and_does_without() -> None:
    found = {}
    for compensation in ("default", "none"):
        settings = {**HOVER, "modules.compensation": compensation}
        settings["vehicles.0.reference.duration"] = 18.0
        settings["modules.mission"] = [{"hover": 13.0}, {"part": "j1"}]
        found[compensation] = metrics_of(monitored("module_release", settings))["joints"]["j1"][
            "released"
        ]
    assert found["default"]["position_m"] < 0.005
    assert found["default"]["rotation_rad"] < 0.005
    assert found["none"]["position_m"] > 3.0 * found["default"]["position_m"]


def test_a_snapshot_of_joined_modules_goes_on_joined() -> None:
    settings = {**HOVER, "vehicles.0.reference.duration": 10.0}
    with Simulation.of("module_hover", settings=settings) as simulation:
        for _ in range(100):
            simulation.step()
        snapshot = simulation.snapshot()
        ends = []
        for _ in range(2):
            for _ in range(100):
                simulation.step()
            ends.append(simulation.plant.engine.state()[0].copy())
            simulation.restore(snapshot)
        np.testing.assert_array_equal(*ends)
        assert np.linalg.norm(ends[0][1, :3] - ends[0][0, :3]) == pytest.approx(0.52, abs=1e-3)


def test_a_reset_joins_them_anew() -> None:
    settings = {**HOVER, "vehicles.0.reference.duration": 10.0}
    with Simulation.of("module_hover", settings=settings) as simulation:
        ends = []
        for _ in range(2):
            for _ in range(60):
                simulation.step()
            ends.append(simulation.plant.engine.state()[0].copy())
            simulation.reset()
        np.testing.assert_array_equal(*ends)
        machines = simulation.modules.coordinator.machines
        assert machines["j1"].state == JointState.JOINED


@pytest.mark.parametrize(
    ("scenario", "settings", "match"),
    [
        ("module_hover", {"modules.count": 9}, "key 'modules.count': .* less than or equal to 8"),
        ("module_hover", {"modules.rate": 30.0}, "30 Hz does not divide the control's 200"),
        ("module_hover", {"engine.name": "closed_form"}, "has no joints that are added in flight"),
        ("module_assembly", {"modules.joints.left.face": "+y"}, "'m2' has no latch at \\+y"),
        ("module_assembly", {"modules.joints.left.leader": "m7"}, "no module 'm7'"),
        ("module_assembly", {"modules.gain": 2.0}, "modules.gain"),
    ],
)
def test_settings_that_make_no_sense_are_refused(
    scenario: str, settings: dict[str, Any], match: str
) -> None:
    with pytest.raises(BadInput, match=match), Simulation.of(scenario, settings=settings):
        pass


def test_modules_must_have_rotors_that_tilt() -> None:
    settings = {"modules.count": 1}
    with pytest.raises(BadInput, match="rotors that tilt"):
        with Simulation.of("module_hover", settings=settings, platform="f450_dock"):
            pass


@pytest.mark.slow
def test_a_wanted_wrench_is_held_in_a_joint() -> None:
    wanted = [5.0, 0.0, 0.0, 0.0, 1.0, 0.0]
    settings = {**HOVER, "vehicles.0.reference.duration": 20.0}
    monitor = monitored("module_hover", {**settings, "modules.joints.j1.desired": wanted})
    t, wrenches = monitor.columns["t"], monitor.columns["joint_wrenches"][:, 0]
    found = wrenches[(t > 12.0) & (t < 19.0)].mean(axis=0)
    np.testing.assert_allclose(found[:3], wanted[:3], atol=0.2)
    np.testing.assert_allclose(found[3:], wanted[3:], atol=0.05)


@pytest.mark.slow
def test_four_modules_close_a_square_in_flight() -> None:
    monitor = monitored(
        "module_square", {f"vehicles.{i}.reference.duration": 15.0 for i in range(4)}
    )
    metrics = metrics_of(monitor)
    assert monitor.failure is None
    assert metrics["joint_force_n"] < 0.2
    assert max(metrics["rmse_steady"]["m1"][:3]) < 0.004


def faulty(
    count: int, module: str, kind: str, seconds: float, mission: list[Any] | None = None
) -> tuple[ModulesMonitor, Array]:
    """Result of a chain that loses a module, and the modules' places at the end.

    States are exact, so that what remains is what the loss does to the structure.
    """
    settings = {**HOVER, "vehicles.0.reference.duration": seconds, "modules.count": count}
    settings["modules.mission"] = mission or []
    settings["modules.faults"] = [{"module": module, "at": LOSS, "kind": kind}]
    with Simulation.of("module_release", settings=settings, state_source="truth") as simulation:
        simulation.fly()
        monitor = simulation.task
        assert isinstance(monitor, ModulesMonitor)
        return monitor, np.array([simulation.state_of(each)[0, :3] for each in simulation.names])


def excursion(monitor: ModulesMonitor, until: float) -> float:
    """Largest way of the structure's middle off where it was before the loss [m]."""
    t, errors = monitor.columns["t"], monitor.columns["errors"][..., :3].mean(axis=1)
    before = errors[(t > LOSS - 2.0) & (t < LOSS)].mean(axis=0)
    return float(np.linalg.norm(errors[(t > LOSS) & (t < until)] - before, axis=-1).max())


@pytest.mark.slow
def test_a_neighbour_leads_where_the_leaders_controller_falls_silent() -> None:
    mission = [{"hover": LOSS + 10.0}, {"part": "j2"}]
    monitor, places = faulty(3, "m2", "controller", LOSS + 20.0, mission)
    assert monitor.failure is None
    (loss,) = metrics_of(monitor)["lost"]
    assert (loss["module"], loss["leader"]) == ("m2", "m1")
    assert loss["t"] == pytest.approx(LOSS + 0.25, abs=0.026)
    roles = monitor.columns["roles"]
    assert roles[0].tolist() == [2.0, 1.0, 2.0]  # follower, leader, follower
    assert roles[-1].tolist() == [1.0, 2.0, 0.0]  # leader, follower, separated
    assert excursion(monitor, LOSS + 10.0) < 0.03
    assert np.linalg.norm(places[1] - places[0]) == pytest.approx(0.52, abs=2e-3)
    assert np.linalg.norm(places[2] - places[1]) > 1.2
    assert np.abs(monitor.columns["joint_wrenches"][-400:, 0, :3]).max() < 40.0


@pytest.mark.slow
def test_four_carry_their_leader_whose_motors_have_stopped() -> None:
    monitor, places = faulty(5, "m3", "motors", LOSS + 18.0)
    assert excursion(monitor, LOSS + 18.0) < 0.03
    np.testing.assert_allclose(np.diff(places[:, 0]), 0.52, atol=2e-3)
    t, wrenches = monitor.columns["t"], monitor.columns["joint_wrenches"]
    borne = wrenches[(t > LOSS + 6.0) & (t < LOSS + 17.0)].mean(axis=0)[:, 2]
    weight = 4.6 * 9.81
    np.testing.assert_allclose(np.abs(borne), weight * np.array([0.25, 0.5, 0.5, 0.25]), rtol=0.05)


@pytest.mark.slow
@pytest.mark.parametrize(("count", "module"), [(3, "m2"), (4, "m3")])
def test_a_short_chain_carries_a_module_whose_motors_have_stopped(count: int, module: str) -> None:
    monitor, places = faulty(count, module, "motors", LOSS + 8.0)
    assert excursion(monitor, LOSS + 8.0) < 0.03
    np.testing.assert_allclose(np.diff(places[:, 0]), 0.52, atol=2e-3)
    assert np.ptp(places[:, 2]) < 0.01


@pytest.mark.slow
def test_eight_in_a_chain_do_not_push_each_other_and_hold_their_attitude_as_published() -> None:
    settings = {**HOVER, "modules.count": 8, "vehicles.0.reference.duration": 48.0}
    monitor = monitored("module_hover", settings, seed=2)
    metrics = metrics_of(monitor)
    errors = np.array(metrics["rmse_steady"]["m4"])
    assert (errors < [1.4e-3, 3.9e-3, 3.0e-3, 1.0e-3, 1.1e-3, 1.5e-3]).all()
    assert metrics["joint_force_n"] < 0.1
    assert metrics["joint_torque_nm"] < 0.05


@pytest.mark.slow
def test_modules_dock_and_part_against_the_air_between_them() -> None:
    air = {"modules.proximity.push": 0.5, "modules.proximity.sink": 0.25}
    mission = [{"hover": 0.2}, {"join": "left"}, {"hover": 8.0}, {"part": "left"}]
    settings = {**DOCK_AND_PART, **air, "modules.mission": mission}
    monitor = monitored("module_assembly", settings, duration=26.0)
    metrics = metrics_of(monitor)
    assert monitor.failure is None
    assert metrics["mission_done"]
    assert metrics["joint_force_n"] < 0.1


@pytest.mark.slow
def test_modules_dock_and_part_in_mujoco() -> None:
    pytest.importorskip("mujoco")
    monitor = monitored("module_assembly", DOCK_AND_PART, engine="mujoco", duration=12.0)
    metrics = metrics_of(monitor)
    assert monitor.failure is None
    assert metrics["mission_done"]
    assert metrics["joints"]["left"]["force_after_catch_n"] < 0.2
    assert metrics["joints"]["left"]["released"]["position_m"] < 0.006


@pytest.mark.slow
def test_a_wind_leaves_modules_on_their_lemniscate() -> None:
    wind = {"wind.speed": 2.0, "vehicles.0.reference.duration": 12.0, "modules.count": 2}
    found = metrics_of(monitored("module_lemniscate", wind))["rmse"]
    assert max(max(each[:3]) for each in found.values()) < 0.002
