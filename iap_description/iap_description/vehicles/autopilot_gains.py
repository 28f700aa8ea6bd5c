# SPDX-License-Identifier: BSD-3-Clause
"""An aircraft's own autopilot, as the plant flies it and as observers model it: gains and attitude law."""

from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from iap_description.config.bounds import MAX_DELAY
from iap_description.config.record import ExtendedRecord, Record
from iap_description.config.values import Hertz, NonNegative, NonNegative3, Vec3
from iap_description.math.kernels import (
    Mat,
    Quat,
    Vec,
    add,
    choose,
    cross,
    formula,
    mv,
    qconj,
    qmul,
    scale,
    sub,
    times,
    unrotate,
)
from iap_description.vehicles.attitude_estimator import AttitudeEstimator

WHOLE = 1e-6  # by which a number of periods may be off a whole one


class RateLoop(Record):
    """Filters, integral, derivative and delay of a rate loop, see `iap_physics.propulsion.rate_loop`."""

    gyroscope_cutoff_hz: Hertz  # of the body rate's low-pass, second-order Butterworth [Hz]
    integral: NonNegative3  # of attitude and rate feedback, per feedback [1/s]
    integral_limit: NonNegative3  # of the integral in the torque per inertia [rad/s^2]
    derivative: NonNegative3  # torque per inertia against the filtered angular acceleration
    derivative_cutoff_hz: Hertz  # of that acceleration's low-pass, first order [Hz]
    delay: Annotated[NonNegative, Field(le=MAX_DELAY)]  # of the rotors' commands [s]


class AutopilotGains(ExtendedRecord):
    """Attitude and rate loop inside each aircraft, per inertia."""

    LATER: ClassVar[tuple[str, ...]] = ("rate_loop", "estimator")

    rate_hz: Hertz | None  # None is the physics rate
    attitude: Vec3  # [1/s^2]
    rate: Vec3  # [1/s]
    rotor_lead: float = Field(strict=True, ge=1.0, le=10.0)
    rate_loop: RateLoop | None = None  # None: a gain on the rate as it is, which acts at once
    estimator: AttitudeEstimator | None = None  # None: attitude and rate are known as they are

    @model_validator(mode="after")
    def _samples_its_filters(self) -> Self:
        loop, rate = self.rate_loop, self.rate_hz
        if loop is None:
            if self.estimator is not None:
                raise ValueError(
                    "key 'estimator': an autopilot with one has a rate_loop (set both to null for neither)"
                )
            return self
        if rate is None:
            raise ValueError("key 'rate_hz': the filters of a rate_loop need a rate, not null")
        for key in ("gyroscope_cutoff_hz", "derivative_cutoff_hz"):
            if getattr(loop, key) >= 0.5 * rate:
                raise ValueError(
                    f"key 'rate_loop.{key}': has to be below half of rate_hz {rate:g}"
                )
        periods = loop.delay * rate
        if abs(periods - round(periods)) > WHOLE:
            raise ValueError(
                f"key 'rate_loop.delay': {loop.delay:g} s is no whole number of periods at rate_hz {rate:g}"
            )
        self._check_velocities(rate)
        return self

    def _check_velocities(self, rate: float) -> None:
        velocity_hz = None if self.estimator is None else self.estimator.velocity_hz
        if velocity_hz is None:
            return
        periods = rate / velocity_hz
        if abs(periods - round(periods)) > WHOLE:
            raise ValueError(
                f"key 'estimator.velocity_hz': {velocity_hz:g} does not divide rate_hz {rate:g}"
            )


@formula
def attitude_torque(
    has_attitude: bool, q: Quat, w: Vec, q_r: Quat, w_r: Vec, attitude: Vec, rate: Vec, J: Mat
) -> Vec:
    """Torque [N m] about the CoM, body axes, that attitude and rate loop ask for: J (-k_R e_R - k_w e_w) + w x J w.

    Arguments are those of `attitude_feedback`, and the inertia J [kg m^2].
    """
    feedback = attitude_feedback(has_attitude, q, w, q_r, w_r, attitude, rate)
    return torque_against(feedback, w, J)


@formula
def torque_against(feedback: Vec, w: Vec, J: Mat) -> Vec:
    """Torque [N m], body axes, that turns a body of inertia J against a feedback [rad/s^2], at its rate w [rad/s]."""
    return sub(cross(w, mv(J, w)), mv(J, feedback))


@formula
def attitude_feedback(
    has_attitude: bool, q: Quat, w: Vec, q_r: Quat, w_r: Vec, attitude: Vec, rate: Vec
) -> Vec:
    """Feedback k_R e_R + k_w e_w of attitude and body rate [rad/s^2], body axes.

    Args:
        has_attitude: whether an attitude is commanded; else only the body rate.
        q: attitude, body to world.
        w: body rate [rad/s].
        q_r: commanded attitude.
        w_r: commanded body rate in the commanded attitude's axes, else in the body's [rad/s].
        attitude: gains k_R [1/s^2].
        rate: gains k_w [1/s].
    """
    q_e = qmul(qconj(q_r), q)
    sign = choose(q_e[3] >= 0.0, 2.0, -2.0)
    e_R = scale(choose(has_attitude, sign, 0.0), (q_e[0], q_e[1], q_e[2]))
    turned = unrotate(q_e, w_r)
    demanded = (
        choose(has_attitude, turned[0], w_r[0]),
        choose(has_attitude, turned[1], w_r[1]),
        choose(has_attitude, turned[2], w_r[2]),
    )
    return add(times(attitude, e_R), times(rate, sub(w, demanded)))
