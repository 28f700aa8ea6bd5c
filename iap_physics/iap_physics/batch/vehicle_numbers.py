# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of vehicles in blocks of worlds: bodies, rotors and autopilots."""

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.math.rows import fill
from iap_physics.air.drag import DragCoefficients
from iap_physics.batch.layout import BODY, SHARED
from iap_physics.engines.rigid_model import RigidModel
from iap_physics.propulsion.propulsion import Propulsion
from iap_physics.propulsion.rotors import lag


def fill_bodies(
    bodies: Array,
    aircraft: Integers,
    model: RigidModel,
    rotors: Array,
    drag: DragCoefficients | None,
    dt: float,
) -> None:
    """Write what worlds may differ in.

    Args:
        bodies: (bodies, BODY_SIZE, ...) rows of some lanes, changed in place.
        aircraft: (N,) the aircraft among the bodies.
        model: of the vehicle.
        rotors: (N, 3) see `iap_physics.propulsion.propulsion.Airframe.rotor_numbers`.
        drag: coefficients of the bodies; None where all worlds are without drag, whose rows stay at zero.
        dt: physics step [s].
    """
    fill(bodies, BODY, arm=model.arms, J=model.J, J_inv=model.J_inv)
    if drag is not None:
        fill(bodies, BODY, linear=drag[0], quadratic=drag[1])
    fill(
        bodies,
        BODY,
        aircraft,
        thrust_coefficient=rotors[:, 0],
        up=[lag(dt, time) for time in rotors[:, 1]],
        down=[lag(dt, time) for time in rotors[:, 2]],
    )


def fill_fleet(shared: Array, aircraft: Integers, propulsion: Propulsion) -> None:
    """Write into columns (bodies, SHARED_SIZE) what aircraft (N,) among the bodies have in all worlds alike."""
    autopilots, servos = propulsion.autopilots, propulsion.rotors.servos
    fill(
        shared,
        SHARED,
        aircraft,
        attitude_gain=autopilots["attitude"],
        rate_gain=autopilots["rate"],
        autopilot_J=autopilots["J"],
        mix=autopilots["mix"][:, :, 1:],
        lift=autopilots["lift"],
        c_f=autopilots["thrust_coefficient"],
        rpm_min=autopilots["rpm_min"],
        rpm_max=autopilots["rpm_max"],
        lead=autopilots["lead"],
        torques=propulsion.rotors.records["wrench_of_thrusts"][:, 3:],
        servo=np.column_stack([servos[name] for name in ("limit", "rate", "time_constant")]),
        upward=servos["up"],
        sideways=servos["sideways"],
    )
    fill_shares(shared, aircraft, propulsion)


def fill_shares(shared: Array, aircraft: Integers, propulsion: Propulsion) -> None:
    """Write what faults have left of the rotors, see `fill_fleet`."""
    rotors = propulsion.rotors.records
    share = {name: rotors[name] for name in ("thrust_share", "speed_share")}
    fill(shared, SHARED, aircraft, **share)
