# SPDX-License-Identifier: BSD-3-Clause
"""`localize`: measurements through the front end once, and from there to every method."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from iap_description.config.alternatives import alternatives
from iap_description.errors import BadInput
from iap_estimation.datasets.dataset import SensorDataset
from iap_estimation.datasets.initial_states import first_of
from iap_estimation.datasets.loss_checks import with_losses
from iap_estimation.datasets.method_results import (
    BLIND,
    COMPLETED,
    WARM_UP_TIME,
    LocalizationResults,
    MethodResult,
)
from iap_estimation.datasets.range_start import range_start
from iap_estimation.evaluation.estimated_trajectory import EstimatedTrajectory
from iap_estimation.frontend.spec import FrontendSpec
from iap_estimation.navigation.aircraft_frontend import FleetFrontend, FrontendStats
from iap_estimation.navigation.settings import EstimationSettings
from iap_estimation.navigation.streams import while_sighted
from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.localizer import (
    LOST,
    RECORDED_METHODS,
    Localizer,
    Smoother,
    make_localizer,
    named_estimates,
    pass_on,
)
from iap_estimation.virpo.messages import (
    CENTRE_NAME,
    Estimate,
    ImuSample,
    Measurement,
    Ranges,
)
from iap_estimation.virpo.methods.batch import check_gtsam
from iap_estimation.virpo.spec import StartDeviations, VirpoSpec
from iap_estimation.virpo.window.estimator import InitialState

Make = Callable[[str, Fleet, VirpoSpec, InitialState, StartDeviations | None], Localizer]
NEED_RANGES, NEED_JOINTS = ("vio_uwb", "uwb"), ("virpo", "joint", "drift_filter")


def check_methods(methods: Sequence[str], dataset: SensorDataset) -> None:
    """Refuse methods that there are none of, or that a data set or the installation has not enough for.

    Raises:
        BadInput: naming the method.
    """
    for name in methods:
        if name not in RECORDED_METHODS:
            raise BadInput(f"no method '{name}': {alternatives(name, RECORDED_METHODS)}")
        if name not in BLIND and not dataset.has_cameras:
            raise BadInput(
                f"{dataset.source}: method {name} needs images, and there are none: use uwb"
            )
        if name == "batch":
            check_gtsam()
        if name in NEED_RANGES and not dataset.has_ranges:
            raise BadInput(f"{dataset.source}: method {name} needs ranges, and there are none")
        if name in NEED_JOINTS and dataset.centre is None:
            count = len(dataset.aircraft)
            raise BadInput(
                f"{dataset.source}: method {name} needs two or more aircraft joined to one body,"
                f" but there is {count} alone"
            )
    if len(set(methods)) < len(methods) or not methods:
        raise BadInput(f"--method {','.join(methods)}: name each method once")


def tracked(
    dataset: SensorDataset, spec: FrontendSpec, stats: FrontendStats
) -> Iterator[tuple[int, Measurement]]:
    """Measurements of a data set, with tracks in place of images.

    Raises:
        BadInput: images that do not belong to their cameras.
    """
    frontend = FleetFrontend(dataset.source, dataset.aircraft, spec, stats)
    return map(frontend, while_sighted(dataset.events(), dataset.tally))


def localize(
    dataset: SensorDataset,
    methods: Sequence[str],
    settings: EstimationSettings,
    *,
    make: Make = make_localizer,
    events: Iterable[tuple[int, Measurement]] | None = None,
    progress: Callable[[float], None] | None = None,
    watch: Callable[[int, Measurement], None] | None = None,
) -> LocalizationResults:
    """Run methods on a data set; the front end runs once.

    Args:
        dataset: see `open_dataset`.
        methods: names; see `iap_estimation.virpo.localizer.RECORDED_METHODS`.
        settings: of front end and estimators.
        make: gives the localizer of a method.
        events: what `tracked` gives, where that is known already; then the front end does not run.
        progress: is called with the time of the data [s].
        watch: is called with every measurement, and the number of its aircraft, before the methods.

    Raises:
        BadInput: the data set is no such thing after all, or a method is not one for it.
    """
    check_methods(methods, dataset)
    stats = FrontendStats()
    courses, begins_true = _courses(dataset, methods, settings.estimator, make)
    measurements = tracked(dataset, settings.frontend, stats) if events is None else events
    begin, t, has_ranges = None, 0.0, False
    rounds: dict[int, list[Ranges]] = {}
    for who, measured in measurements:
        begin = measured.t if begin is None else begin
        t = max(t, measured.t)
        if watch is not None:
            watch(who, measured)
        if isinstance(measured, Ranges):
            has_ranges = True
            if set(methods) & set(BLIND):
                rounds.setdefault(who, []).append(measured)
        for course in courses.values():
            course.take_measurement(who, measured, is_timed=measured.t >= begin + WARM_UP_TIME)
        if progress is not None and not isinstance(measured, ImuSample):
            progress(t - begin)
    if begin is None:
        raise BadInput(f"{dataset.source}: no sensor says anything")
    if not has_ranges and set(methods) & set(NEED_RANGES):
        raise BadInput(f"{dataset.source}: no range to an anchor whose place is known came")
    nothing_came = _nothing_came(dataset, begin, t)
    results = {name: course.result(nothing_came) for name, course in courses.items()}
    return with_losses(
        LocalizationResults(dataset, results, stats, t - begin, begins_true, rounds)
    )


def _courses(
    dataset: SensorDataset, methods: Sequence[str], spec: VirpoSpec, make: Make
) -> tuple[dict[str, "_Course"], bool]:
    """The course of each method, and whether it begins at the ground truth."""
    fleet = dataset.fleet(spec)
    first, deviations, begins_true = _start_of(dataset, spec)
    courses = {
        name: _Course(make(name, fleet, spec, first, deviations), fleet) for name in methods
    }
    return courses, begins_true


def _start_of(
    dataset: SensorDataset, spec: VirpoSpec
) -> tuple[InitialState, StartDeviations | None, bool]:
    """Initial states, their standard deviations, and whether they come from the ground truth."""
    first, begins_true = first_of(dataset)
    if begins_true:
        return first, None, True
    if dataset.has_cameras:
        return first, spec.unknown, False
    return *range_start(dataset, spec), False


def _nothing_came(dataset: SensorDataset, begin: float, end: float) -> str:
    """The reason why there was no estimate of data from a begin to an end [s]."""
    for one in dataset.aircraft:
        if one.truth is not None and not (one.truth.t[0] <= end and one.truth.t[-1] >= begin):
            return (
                f"no estimate came: it begins at the truth of {one.name}, which is known from {one.truth.t[0]:.1f} s to"
                f" {one.truth.t[-1]:.1f} s, while the data last from {begin:.1f} s to {end:.1f} s"
            )
    return "no estimate came"


@dataclass
class _Course:
    """One method on its way through the data."""

    localizer: Localizer
    fleet: Fleet
    failure: str | None = None
    estimates: dict[str, list[Estimate]] = field(default_factory=dict)
    seconds: float = 0.0
    keyframes: int = 0

    def take_measurement(self, who: int, measured: Measurement, *, is_timed: bool) -> None:
        """Pass a measurement on, and keep new estimates."""
        if self.failure is not None:
            return
        begin = perf_counter()
        try:
            is_new = pass_on(self.localizer, who, measured)
            self.seconds += (perf_counter() - begin) if is_timed else 0.0
            if is_new:
                self.keyframes += is_timed
                self._take()
        except LOST as error:
            self.failure = f"at {measured.t:.2f} s: {error}"

    def _take(self) -> None:
        """Keep estimates that are new."""
        names = [model.name for model in self.fleet.aircraft]
        for name, one in named_estimates(self.localizer, names).items():
            self._keep(name, one)

    def _keep(self, name: str, one: Estimate) -> None:
        kept = self.estimates.setdefault(name, [])
        if kept and one.t <= kept[-1].t:
            return
        numbers = np.concatenate([one.p_WB_W, one.q_WB, one.v_WB_W])
        if not np.isfinite(numbers).all():
            self.failure = f"at {one.t:.2f} s: the estimate of {name} is not a number"
        kept.append(one)

    def _smooth(self, smoother: Smoother) -> None:
        """Put what all measurements together say in place of what was estimated on the way."""
        begin, names = perf_counter(), [model.name for model in self.fleet.aircraft]
        try:
            aircraft, centre = smoother.smoothed()
            by_name = dict(zip(names, aircraft, strict=True))
            self.estimates = {**by_name, CENTRE_NAME: centre} if centre else by_name
        except LOST as error:
            self.failure = str(error)
        self.seconds += perf_counter() - begin

    def result(self, nothing_came: str) -> MethodResult:
        """The method's result; `nothing_came` is the failure of one without any estimate."""
        if isinstance(self.localizer, Smoother) and self.failure is None and self.estimates:
            self._smooth(self.localizer)
        faults = tuple(sorted(self.localizer.faults, key=lambda fault: fault.t))
        outcome = COMPLETED
        if faults:
            times = "once" if len(faults) == 1 else f"{len(faults)} times"
            outcome = f"restarted {times}: at {faults[0].t:.2f} s: {faults[0].reason}"
        if self.failure is None and not self.estimates:
            self.failure = nothing_came
        if self.failure is not None:
            return MethodResult(f"failed: {self.failure}", {}, 0, self.seconds, faults)
        kept = {
            name: EstimatedTrajectory.of(estimates) for name, estimates in self.estimates.items()
        }
        measured = sorted(self.localizer.left_out, key=lambda one: one.t)
        left_out = tuple(
            (one.t, self.fleet.aircraft[one.aircraft].name, one.anchor) for one in measured
        )
        return MethodResult(outcome, kept, self.keyframes, self.seconds, faults, left_out)
