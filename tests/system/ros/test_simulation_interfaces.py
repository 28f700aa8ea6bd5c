# SPDX-License-Identifier: BSD-3-Clause
"""The services of simulation_interfaces, called by a client, as their specification says."""

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")
pytest.importorskip(
    "simulation_interfaces", reason="the package simulation_interfaces is not installed"
)

from geometry_msgs.msg import Vector3
from hang import HANG
from rclpy.action import ActionClient
from simulation_interfaces.action import SimulateSteps
from simulation_interfaces.msg import Bounds, EntityCategory, Result, SimulationState
from simulation_interfaces.msg import SimulatorFeatures as Features
from simulation_interfaces.srv import (
    GetCurrentWorld,
    GetEntities,
    GetEntitiesStates,
    GetEntityBounds,
    GetEntityInfo,
    GetEntityState,
    GetSimulationState,
    GetSimulatorFeatures,
    GetSpawnables,
    ResetSimulation,
    SetEntityState,
    SetSimulationState,
    StepSimulation,
)

from iap_physics.nodes.standard_services.entity_services import resource_of
from iap_simulation.scenario.resolving import Options, resolve

pytestmark = [pytest.mark.ros, pytest.mark.nodes, pytest.mark.slow]
STOPPED, PLAYING, PAUSED = range(3)
OK, NOT_FOUND, INCORRECT_STATE, FAILED = (
    Result.RESULT_OK,
    Result.RESULT_NOT_FOUND,
    Result.RESULT_INCORRECT_STATE,
    Result.RESULT_OPERATION_FAILED,
)
SERVICE_OF_FEATURE = {  # as the definition of SimulatorFeatures names them
    Features.ENTITY_BOUNDS: "/get_entity_bounds",
    Features.ENTITY_CATEGORIES: "/get_entities",
    Features.ENTITY_STATE_GETTING: "/get_entity_state",
    Features.ENTITY_STATE_SETTING: "/set_entity_state",
    Features.ENTITY_INFO_GETTING: "/get_entity_info",
    Features.ENTITY_INFO_SETTING: "/set_entity_info",
    Features.SPAWNABLES: "/get_spawnables",
    Features.SIMULATION_RESET: "/reset_simulation",
    Features.SIMULATION_STATE_GETTING: "/get_simulation_state",
    Features.SIMULATION_STATE_SETTING: "/set_simulation_state",
    Features.STEP_SIMULATION_MULTIPLE: "/step_simulation",
    Features.WORLD_INFO_GETTING: "/get_current_world",
    Features.AVAILABLE_WORLDS: "/get_available_worlds",
}
HAS_FLAGS = hasattr(SetEntityState.Request(), "set_pose")  # since version 2.1
ALREADY_THERE, INVALID_POSE, PERIOD = 101, 101, 0.005


class Simulator:
    """A client of a simulation that flies wall_push."""

    def __init__(self, nodes, probe):
        scenario, _ = resolve("wall_push", Options())
        self.probe = probe
        flight = {"scenario": "wall_push"}
        nodes.start_flight(scenario, flight, pace="lockstep", start_paused=True)
        probe.hear_states("iap")
        probe.wait_for_state("iap", 0.0)

    def call(self, kind, name, **fields):
        return self.probe.call(kind, f"/{name}", kind.Request(**fields))

    @property
    def state(self):
        return self.call(GetSimulationState, "get_simulation_state").state.state

    def go_to(self, state):
        target = SimulationState(state=state)
        return self.call(SetSimulationState, "set_simulation_state", state=target).result.result

    def pose(self, entity="iap"):
        answer = self.call(GetEntityState, "get_entity_state", entity=entity)
        assert answer.result.result == OK, answer.result
        p = answer.state.pose.position
        stamp = answer.state.header.stamp
        return np.array([p.x, p.y, p.z]), stamp.sec + 1e-9 * stamp.nanosec

    def entities(self, **filters):
        request = GetEntities.Request()
        for name, value in filters.items():
            setattr(request.filters, name, value)
        answer = self.probe.call(GetEntities, "/get_entities", request)
        return answer.result.result, list(answer.entities)


@pytest.fixture(scope="module")
def simulator(start_once):
    return Simulator(*start_once)


@pytest.fixture(autouse=True)
def stopped(simulator):
    """Every test begins with a simulation that is stopped."""
    simulator.go_to(STOPPED)
    assert simulator.state == STOPPED


def test_features_are_those_whose_services_answer(simulator):
    features = set(
        simulator.call(GetSimulatorFeatures, "get_simulator_features").features.features
    )
    assert {
        Features.SIMULATION_RESET,
        Features.SIMULATION_STATE_PAUSE,
        Features.STEP_SIMULATION_MULTIPLE,
        Features.STEP_SIMULATION_ACTION,
        Features.ENTITY_STATE_SETTING,
    } <= features
    assert not {Features.SPAWNING, Features.DELETING, Features.WORLD_LOADING} & features
    services = {name for name, _ in simulator.probe.node.get_service_names_and_types()}
    assert {
        SERVICE_OF_FEATURE[each] for each in features if each in SERVICE_OF_FEATURE
    } <= services


def test_a_simulation_is_played_paused_and_stopped(simulator):
    assert simulator.go_to(STOPPED) == ALREADY_THERE
    assert simulator.go_to(PLAYING) == OK and simulator.state == PLAYING
    simulator.probe.wait(lambda: simulator.pose()[1] > 0.1, "time goes on")
    assert simulator.go_to(PAUSED) == OK and simulator.state == PAUSED
    t = simulator.pose()[1]
    assert t > 0.1 and simulator.pose()[1] == t
    assert simulator.go_to(STOPPED) == OK
    assert simulator.state == STOPPED and simulator.pose()[1] == 0.0
    assert simulator.go_to(SimulationState.STATE_NO_WORLD) == 103


def test_steps_are_flown_while_paused_alone(simulator):
    answer = simulator.call(StepSimulation, "step_simulation", steps=20)
    assert answer.result.result == OK
    assert simulator.pose()[1] == pytest.approx(20 * PERIOD)
    assert simulator.state == PAUSED
    assert simulator.go_to(PLAYING) == OK
    answer = simulator.call(StepSimulation, "step_simulation", steps=1)
    assert answer.result.result == FAILED and "not paused" in answer.result.error_message


def test_the_action_tells_of_every_step_and_can_be_cancelled(simulator):
    probe, heard = simulator.probe, []
    client = ActionClient(probe.node, SimulateSteps, "/simulate_steps")
    probe.wait(client.server_is_ready, "the action's server")
    goal = SimulateSteps.Goal(steps=10)
    sent = client.send_goal_async(goal, feedback_callback=lambda m: heard.append(m.feedback))
    probe.wait(sent.done, "the goal is accepted")
    result = sent.result().get_result_async()
    probe.wait(result.done, "the result")
    assert result.result().result.result.result == OK
    assert simulator.pose()[1] == pytest.approx(10 * PERIOD)
    probe.wait(lambda: heard and heard[-1].completed_steps == 10, "feedback of the last step")
    assert all(each.completed_steps + each.remaining_steps == 10 for each in heard)
    sent = client.send_goal_async(SimulateSteps.Goal(steps=10**9))
    probe.wait(sent.done, "the long goal is accepted")
    result = sent.result().get_result_async()
    probe.wait(lambda: simulator.pose()[1] > 0.1, "steps are flown")
    cancelled = sent.result().cancel_goal_async()
    probe.wait(cancelled.done, "the answer to the cancelling")
    probe.wait(result.done, "the cancelled result")
    assert result.result().status == 5  # cancelled
    assert result.result().result.result.result == FAILED
    assert simulator.state == PAUSED
    client.destroy()


@pytest.mark.parametrize(("scope", "time_is_kept", "place_is_kept"), [
    (ResetSimulation.Request.SCOPE_DEFAULT, False, False),
    (ResetSimulation.Request.SCOPE_TIME, False, True),
    (ResetSimulation.Request.SCOPE_STATE, True, False),
])  # fmt: skip
def test_time_and_state_are_reset_together_or_one_of_them(
    simulator, scope, time_is_kept, place_is_kept
):
    begin, _ = simulator.pose()
    put(simulator, position=begin + [0.5, 0.0, 1.0])
    simulator.call(StepSimulation, "step_simulation", steps=4)
    before, t_before = simulator.pose()
    answer = simulator.call(ResetSimulation, "reset_simulation", scope=scope)
    assert answer.result.result == OK, answer.result
    after, t = simulator.pose()
    assert t == pytest.approx(t_before if time_is_kept else 0.0)
    np.testing.assert_allclose(after, before if place_is_kept else begin, atol=1e-9)


def put(simulator, *, position=None, quaternion=(0.0, 0.0, 0.0, 1.0), twist=None, entity="iap"):
    request = SetEntityState.Request(entity=entity)
    if HAS_FLAGS:
        request.set_pose, request.set_twist = position is not None, twist is not None
    elif position is None:
        position = simulator.pose()[0]
    pose = request.state.pose
    if position is not None:
        pose.position.x, pose.position.y, pose.position.z = map(float, position)
    turn = pose.orientation
    turn.x, turn.y, turn.z, turn.w = quaternion
    if twist is not None:
        request.state.twist.linear = Vector3(x=twist[0], y=twist[1], z=twist[2])
    return simulator.probe.call(SetEntityState, "/set_entity_state", request).result


def test_a_paused_vehicle_is_put_elsewhere_with_all_of_its_aircraft_and_flies_on_from_there(
    simulator,
):
    simulator.call(StepSimulation, "step_simulation", steps=10)
    (begin, t), (drone, _) = simulator.pose(), simulator.pose("iap/drone_1")
    half = np.sqrt(0.5)
    goal = begin + [0.0, 2.0, 1.0]
    assert put(simulator, position=goal, quaternion=(0.0, 0.0, half, half)).result == OK
    (after, t_after), (drone_after, _) = simulator.pose(), simulator.pose("iap/drone_1")
    np.testing.assert_allclose(after, goal, atol=1e-9)
    assert t_after == t
    x, y, z = drone - begin
    np.testing.assert_allclose(drone_after - after, [-y, x, z], atol=1e-6)  # turned by 90 deg
    simulator.call(StepSimulation, "step_simulation", steps=2)
    assert np.linalg.norm(simulator.pose()[0] - goal) < 0.01
    simulator.go_to(PLAYING)
    assert put(simulator, position=goal).result == INCORRECT_STATE


def test_a_vehicle_moves_on_with_the_velocity_that_it_is_set(simulator):
    begin, _ = simulator.pose()
    assert put(simulator, twist=(1.0, 0.0, 0.0)).result == OK
    simulator.call(StepSimulation, "step_simulation", steps=10)
    assert simulator.pose()[0][0] - begin[0] == pytest.approx(0.05, abs=0.01)


def test_states_that_cannot_be_are_refused_and_change_nothing(simulator):
    before, _ = simulator.pose()
    assert put(simulator, position=before, quaternion=(0.0, 0.0, 0.0, 0.0)).result == INVALID_POSE
    assert put(simulator, position=[np.nan, 0.0, 1.0]).result == INVALID_POSE
    assert put(simulator, position=before, entity="iap/drone_1").result == FAILED
    assert put(simulator, position=before, entity="nobody").result == NOT_FOUND
    np.testing.assert_array_equal(simulator.pose()[0], before)


def test_entities_are_filtered_by_name_category_tag_and_place(simulator):
    result, names = simulator.entities()
    assert result == OK and {"iap", "iap/drone_1", "wall"} <= set(names)
    assert simulator.entities(filter="drone_[12]$") == (OK, ["iap/drone_1", "iap/drone_2"])
    static = EntityCategory(category=EntityCategory.CATEGORY_STATIC_OBJECT)
    assert simulator.entities(categories=[static]) == (OK, ["wall"])
    assert simulator.entities(filter="(")[0] == FAILED
    x, y, z = simulator.pose()[0]
    here = [Vector3(x=x, y=y, z=z), Vector3(x=0.01)]
    assert simulator.entities(bounds=Bounds(type=Bounds.TYPE_SPHERE, points=here)) == (OK, ["iap"])
    box = Bounds(type=Bounds.TYPE_BOX, points=here)
    assert simulator.entities(bounds=box)[0] == Result.RESULT_FEATURE_UNSUPPORTED
    answer = simulator.call(GetEntitiesStates, "get_entities_states")
    assert list(answer.entities) == names and len(answer.states) == len(names)
    assert answer.states[0].header.frame_id == "map"


def test_bounds_of_an_entity_are_a_box_along_its_axes_whose_upper_corner_is_first(simulator):
    bounds = {
        name: simulator.call(GetEntityBounds, "get_entity_bounds", entity=name)
        for name in ("iap", "wall", "nobody")
    }
    assert bounds["nobody"].result.result == NOT_FOUND
    for name in ("iap", "wall"):
        assert bounds[name].bounds.type == Bounds.TYPE_BOX
        upper, lower = bounds[name].bounds.points
        assert upper.x > lower.x and upper.y > lower.y and upper.z > lower.z
    assert bounds["iap"].bounds.points[0].x > 0.3  # its aircraft are around its middle


def test_what_an_entity_and_the_world_are_is_reported(simulator):
    info = simulator.call(GetEntityInfo, "get_entity_info", entity="iap").info
    assert info.category.category == EntityCategory.CATEGORY_ROBOT and "vehicle" in info.tags
    nobody = simulator.call(GetEntityInfo, "get_entity_info", entity="nobody").result
    assert nobody.result == NOT_FOUND and "iap" in nobody.error_message
    world = simulator.call(GetCurrentWorld, "get_current_world")
    assert world.result.result == OK and "wall" in world.world.description
    answer = simulator.call(GetSpawnables, "get_spawnables", sources=["here"])
    assert answer.result.result == OK and "here" in answer.result.error_message
    assert "three_star" in {resource_of(each).uri for each in answer.spawnables}


def test_a_simulation_that_is_asked_to_quit_answers_and_ends_with_0(start):
    simulator = Simulator(*start)
    process = start[0].processes["physics_node"]
    assert simulator.go_to(SimulationState.STATE_QUITTING) == OK
    assert process.wait(HANG) == 0
