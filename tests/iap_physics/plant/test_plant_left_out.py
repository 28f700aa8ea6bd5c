# SPDX-License-Identifier: BSD-3-Clause
"""Keys of a plant that are left out change nothing, and starts within an object or a vehicle itself are refused."""

from types import SimpleNamespace

import numpy as np
import pytest
from strict_records import lax_fields, plain_fields

from iap_description.errors import BadInput
from iap_physics.air.wind import GustParameters, Wind
from iap_physics.engines.engine import OBJECT, WORLD, Contact
from iap_physics.measured.state_noise import StateNoise
from iap_physics.plant.clearance import check_clearance
from iap_physics.plant.plant_spec import PlantSpec
from iap_physics.propulsion.deviation import Deviation


def test_a_vehicle_deviates_by_nothing_unless_it_is_said():
    left_out = Deviation().model_dump()
    factors = {"mass", "inertia", "drag"}
    assert all(left_out[key] == 1.0 for key in factors)
    assert not np.any([np.sum(left_out[key]) for key in left_out.keys() - factors])


def test_measurements_have_no_bias_come_at_once_and_all_of_them_unless_it_is_said():
    noise = StateNoise(position=0.0, attitude_deg=0.0, velocity=0.0, rate_deg=0.0)
    assert not any(noise.model_dump().values())
    assert noise.arrivals(1, 0.005) is None
    assert StateNoise.model_validate({**noise.model_dump(), "latency": 1.0}).latency == 1.0
    with pytest.raises(ValueError, match="latency"):
        StateNoise.model_validate({**noise.model_dump(), "latency": 1.01})


def test_gusts_near_the_ground_are_those_of_ten_feet_and_there_is_no_wind_unless_it_is_said():
    assert not Wind().mean_W.any() and Wind().turbulence == 0.0
    gusts = GustParameters.of(Wind(speed=2.0, turbulence=10.0))
    assert gusts.sigma_w == pytest.approx(1.0)
    assert gusts.time_w == pytest.approx(10.0 * 0.3048 / 2.0)
    with pytest.raises(ValueError, match="altitude"):
        Wind(speed=2.0, altitude=305.0)
    assert Wind(speed=2.0, altitude=304.8).altitude == 304.8


def between(body_a, body_b, overlap):
    none = (0.0, 0.0, 0.0)
    return Contact(body_a, body_b, none, none, -overlap, none)


def two_vehicles():
    """A platform of two bodies and one of one, in a world with two objects."""
    bodies = [SimpleNamespace(bodies=[SimpleNamespace(name=n) for n in names]) for names in
              (("center", "aircraft_1"), ("base",))]  # fmt: skip
    vehicles = [SimpleNamespace(name=n, assembly=b) for n, b in zip("ab", bodies, strict=True)]
    spec = SimpleNamespace(
        vehicles=vehicles, world=SimpleNamespace(objects={"wall": None, "board": None})
    )
    return [slice(0, 2), slice(2, 3)], spec


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        ((2, OBJECT), r"vehicle 'b' starts 2 mm inside the object 'wall'"),
        ((OBJECT - 1, 0), r"vehicle 'a' starts 2 mm inside the object 'board'"),
        ((1, 0), r"vehicle 'a' starts with aircraft_1 2 mm inside center"),
    ],
)
def test_a_start_within_an_object_or_folded_into_itself_is_refused_from_a_millimetre_on(
    pair, said
):
    rows, spec = two_vehicles()
    check_clearance([between(*pair, 0.95e-3)], rows, spec)
    with pytest.raises(BadInput):
        check_clearance([between(*pair, 1.05e-3)], rows, spec)
    with pytest.raises(BadInput, match=said):
        check_clearance([between(*pair, 2e-3)], rows, spec)


def test_vehicles_may_start_on_the_ground_and_against_each_other():
    rows, spec = two_vehicles()
    check_clearance([between(0, WORLD, 0.1), between(0, 2, 0.1)], rows, spec)


def test_a_number_of_a_plant_is_no_text_and_a_switch_is_no_number_wherever_it_stands():
    assert len(list(plain_fields(PlantSpec))) > 150
    assert lax_fields(PlantSpec) == []
