# SPDX-License-Identifier: BSD-3-Clause
"""All aircraft of a platform and its centre under one method, whichever that is: measurements in, estimates out."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

import numpy as np

from iap_description.config.alternatives import alternatives
from iap_description.errors import BadInput
from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.messages import (
    CENTRE_NAME,
    Estimate,
    ImuSample,
    LeftOut,
    Measurement,
    Ranges,
    Tilt,
    Tracks,
)
from iap_estimation.virpo.methods.batch import BatchLocalizer
from iap_estimation.virpo.methods.centre import CentreFilter
from iap_estimation.virpo.methods.drift_filter import DriftFilterLocalizer
from iap_estimation.virpo.methods.uwb import UwbLocalizer
from iap_estimation.virpo.methods.vio import VioLocalizer
from iap_estimation.virpo.spec import StartDeviations, VirpoSpec
from iap_estimation.virpo.window.estimator import Estimator, InitialState
from iap_estimation.virpo.window.failure_checks import Fault
from iap_estimation.virpo.window.window import EstimateLost

METHODS = ("vio", "vio_uwb", "virpo", "joint", "drift_filter")  # of flights, nodes and data sets
OFFLINE = ("uwb", "batch")  # of data sets alone
RECORDED_METHODS = (*METHODS, *OFFLINE)
_TURNS, _BIASES = slice(3, 6), slice(9, 12)  # in an estimate's covariance
LOST = (EstimateLost, np.linalg.LinAlgError, FloatingPointError)  # how an estimator ends


class Localizer(Protocol):
    """All aircraft of a platform under one method; calls that take measurements say whether estimates are new."""

    @property
    def estimators(self) -> list[Estimator]:
        """The windows behind it."""

    def imu(self, aircraft: int, sample: ImuSample) -> bool:
        """Take an inertial sample of an aircraft."""

    def tracks(self, aircraft: int, tracks: Tracks) -> bool:
        """Take the tracks of an aircraft."""

    def ranges(self, aircraft: int, measured: Ranges) -> None:
        """Take a round of ranges of an aircraft."""

    def tilt(self, measured: Tilt) -> None:
        """Take a tilt of the central body."""

    def estimates(self) -> list[Estimate]:
        """The newest of every aircraft that has any, with covariance, in the order of the fleet."""

    def propagated(self, aircraft: int) -> Estimate | None:
        """One aircraft at its newest inertial sample, without covariance; None while it is not known."""

    def centre(self) -> Estimate | None:
        """The central body; None where the platform has none or not all aircraft are known."""

    @property
    def faults(self) -> Sequence[Fault]:
        """Failures so far."""

    @property
    def left_out(self) -> Sequence[LeftOut]:
        """Anchors that were left out so far, since their ranges were wrong for long."""


@runtime_checkable
class Smoother(Localizer, Protocol):
    """A localizer whose estimates count only after the last measurement."""

    def smoothed(self) -> tuple[list[list[Estimate]], list[Estimate]]:
        """Estimates of every aircraft in the order of the fleet, and of the central body, each in order of time.

        Raises:
            EstimateLost: the measurements do not say where an aircraft was.
        """


class JointLocalizer(Estimator):
    """Method ``joint``: one window over all aircraft and the central body, and a filter for the attitude of this one.

    In the window their joints alone drift apart by millimetres, which is half a degree of the centre.

    Its arguments are those of `make_localizer`.
    """

    def __init__(
        self,
        fleet: Fleet,
        spec: VirpoSpec,
        first: InitialState,
        deviations: StartDeviations | None = None,
    ) -> None:
        super().__init__(fleet, spec, first, deviations=deviations, joined=True)
        self._filter = CentreFilter(fleet, spec)

    def tilt(self, measured: Tilt) -> None:
        """See `Localizer.tilt`."""
        super().tilt(measured)
        self._filter.tilt(measured)

    def centre(self) -> Estimate | None:
        """See `Localizer.centre`: place and velocity are the window's, attitude and bias the filter's."""
        window = super().centre()
        filtered = self._filter.estimate(self.estimates()) if window is not None else None
        if window is None or filtered is None:
            return window
        C = window.covariance.copy()
        for rows in (_TURNS, _BIASES):
            C[rows, :9], C[:9, rows] = 0.0, 0.0
            C[rows, rows] = filtered.covariance[rows, rows]
        return replace(
            window,
            q_WB=filtered.q_WB,
            gyro_bias=filtered.gyro_bias,
            w_B=filtered.w_B,
            covariance=C,
        )


def all_propagated(localizer: Localizer, count: int) -> list[Estimate]:
    """All aircraft at their newest inertial samples; none while not all of them are known."""
    propagated = [localizer.propagated(aircraft) for aircraft in range(count)]
    known = [one for one in propagated if one is not None]
    return known if len(known) == count else []


def make_localizer(
    method: str,
    fleet: Fleet,
    spec: VirpoSpec,
    first: InitialState,
    deviations: StartDeviations | None = None,
) -> Localizer:
    """The localizer of a method.

    Args:
        method: one of `RECORDED_METHODS`.
        fleet: who is to be localised.
        spec: see `VirpoSpec`.
        first: gives the initial state of an aircraft at its first images.
        deviations: standard deviations of these; `VirpoSpec.start` where left out.

    Raises:
        BadInput: there is no such method, the platform is not one for it, or ``batch`` has no gtsam.
    """
    if method not in RECORDED_METHODS:
        raise BadInput(f"no method '{method}': {alternatives(method, RECORDED_METHODS)}")
    if method == "uwb":
        return UwbLocalizer(fleet, spec, first, deviations)
    if method == "batch":
        return BatchLocalizer(fleet, spec, first, deviations)
    if fleet.d is None and method not in ("vio", "vio_uwb"):
        raise BadInput(f"method '{method}' needs aircraft that are joined: use vio or vio_uwb")
    if method == "joint":
        return JointLocalizer(fleet, spec, first, deviations)
    if method == "drift_filter":
        return DriftFilterLocalizer(fleet, spec, first, deviations)
    return VioLocalizer(method, fleet, spec, first, deviations)


def pass_on(localizer: Localizer, who: int, measured: Measurement) -> bool:
    """Pass a measurement on to a localizer; True where there are new estimates."""
    match measured:
        case ImuSample():
            return localizer.imu(who, measured)
        case Tracks():
            return localizer.tracks(who, measured)
        case Ranges():
            localizer.ranges(who, measured)
        case Tilt():
            localizer.tilt(measured)
    return False


def named_estimates(localizer: Localizer, names: Sequence[str]) -> dict[str, Estimate]:
    """The newest of all bodies; none before all aircraft are known, since it does not say whom it leaves out."""
    aircraft = localizer.estimates()
    if len(aircraft) < len(names):
        return {}
    named = dict(zip(names, aircraft, strict=True))
    centre = localizer.centre()
    return named if centre is None else {**named, CENTRE_NAME: centre}
