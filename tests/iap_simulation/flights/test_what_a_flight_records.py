# SPDX-License-Identifier: BSD-3-Clause
"""Records of a flight beside its states: losses as they were told, the bore of a funnel, and replayed tracks."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.world.world import World
from iap_io.runs import topics
from iap_io.runs.run_meta import Track, WrenchTrack
from iap_simulation.flights.flight import Flight, PlantSensors, _bore, _told

SURFACE = {"friction": 0.4, "restitution": 0.0}
FUNNEL = {
    "type": "funnel", "position": [-3.0, 0.0, 2.0], "rpy_deg": [0.0, 0.0, 90.0], "throat_radius": 0.045,
    "throat_length": 0.48, "mouth_radius": 0.14, "cone_length": 0.24, "surface": SURFACE,
}  # fmt: skip
WALL = {
    "type": "wall",
    "position": [1.0, 0.0, 2.0],
    "width": 2.0,
    "height": 2.0,
    "surface": SURFACE,
}


def test_the_bore_is_that_of_the_first_funnel_along_its_minus_x_axis():
    world = World.model_validate({"gravity": 9.81, "objects": {"wall": WALL, "funnel": FUNNEL}})
    bore = _bore(world)
    assert (bore.start, bore.length) == ((-3.0, 0.0, 2.0), 0.48)
    np.testing.assert_allclose(bore.axis, [0.0, -1.0, 0.0], atol=1e-12)
    assert _bore(World.model_validate({"gravity": 9.81, "objects": {"wall": WALL}})) is None


@pytest.mark.parametrize(("load", "told"), [(0.7, 0.7), (1.4, 1.4), (math.inf, None)])
def test_a_loss_is_recorded_as_it_was_told_and_an_endless_load_as_none(load, told):
    loss = SimpleNamespace(at=2.5, load=load, can_carry=load < 1.0, text="aircraft 2 is lost")
    meta = _told(loss)
    assert (meta.at, meta.hover_load, meta.can_carry, meta.text) == (
        2.5,
        told,
        load < 1.0,
        "aircraft 2 is lost",
    )


def test_replayed_tracks_are_on_the_time_and_at_the_place_of_the_run():
    poses = np.array([[1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0]] * 2)
    track = Track(np.array([0.0, 0.5]), poses)
    measured = WrenchTrack(np.array([0.1]), np.ones((1, 6)))
    commands = [None, SimpleNamespace(commanded=track, actual=None, measured=measured)]
    flight = SimpleNamespace(
        recorded=commands, vehicles=[SimpleNamespace(timeline=SimpleNamespace(lead=4.0))] * 2,
        scenario=SimpleNamespace(vehicles=[SimpleNamespace(offset=at) for at in ((0.0, 0.0, 0.0), (5.0, 0.0, -1.0))]),
    )  # fmt: skip
    kept = []
    Flight.write_tracks(flight, SimpleNamespace(add_track=lambda *track: kept.append(track)))
    assert [each[:2] for each in kept] == [(1, topics.REFERENCE_POSE), (1, topics.ACTUAL_WRENCH)]
    np.testing.assert_allclose(kept[0][2].t, [4.0, 4.5])
    np.testing.assert_allclose(kept[0][2].poses, [[6.0, 2.0, 2.0, 0.0, 0.0, 0.0, 1.0]] * 2)
    np.testing.assert_allclose(kept[1][2].t, [4.1])


def test_a_reset_flight_has_the_starts_of_its_seed_in_vehicles_and_plant():
    seeds, restarted = [], []
    vehicles = [SimpleNamespace(reset=seeds.append)] * 2
    flight = SimpleNamespace(vehicles=vehicles, spec=SimpleNamespace(seed=5))
    flight._reset_vehicles = lambda: Flight._reset_vehicles(flight)
    Flight.reset(flight, SimpleNamespace(restart=restarted.append))
    assert seeds == [5, 5] and restarted == [flight.spec]


def test_sensors_see_the_state_of_the_first_world_and_objects_where_they_need_them():
    begun, seen = [], []
    sensors = object.__new__(PlantSensors)
    sensors.suite = SimpleNamespace(
        begin=lambda *given: begun.append(given), needs_objects=lambda k: k == 3,
        sample=lambda *given: seen.append(given),
    )  # fmt: skip
    probe = SimpleNamespace(take=lambda: "samples")
    sensors.vehicle_probes = [None, probe]
    states, tilts = np.arange(26.0).reshape(1, 2, 13), [np.full((1, 1, 4), i) for i in (1.0, 2.0)]
    arm = SimpleNamespace(q=np.array([0.1]), v=np.array([0.2]), other=None)
    engine = SimpleNamespace(
        state=lambda: states, object_states=lambda: np.ones((1, 13)), arms={1: arm}
    )
    propulsion = [SimpleNamespace(rotors=SimpleNamespace(tilt=each)) for each in tilts]
    plant = SimpleNamespace(engine=engine, propulsion=propulsion, t=0.5)
    sensors.begin(plant, ["sink"])
    ((rows, sinks),) = begun
    np.testing.assert_array_equal(rows, states[0])
    assert sinks == ["sink"] and sensors.probes == [probe]
    for k in (2, 3):
        sensors.sample(k, plant)
    for (k, t, state, samples), objects in zip(seen, (0, 1), strict=True):
        assert (k, t, samples, len(state.objects)) == (
            2 + objects,
            0.5,
            [None, "samples"],
            objects,
        )
        np.testing.assert_array_equal(state.rows, states[0])
        np.testing.assert_array_equal(state.tilts, [[1.0] * 4, [2.0] * 4])
        ((q, v),) = [(each.q[0], each.v[0]) for each in state.joints]
        assert (q, v) == (0.1, 0.2)
