# SPDX-License-Identifier: BSD-3-Clause
"""The real flights: all forms of one flight are one motion, and its smooth copy stays with it.

The forms differ by what they were sampled at: 20 Hz (the CSV of v1_01), 40 Hz (pose bags), 50 Hz
(NED bags) and 200 Hz (the CSV of v1_02), all from the CSV's rows along straight lines. At its own
stamps each form therefore equals the interpolated CSV, to the 0.1 us in which the CSV's stamps are
uneven; between them straight lines cut corners by up to a dt^2 / 8.
"""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from iap_control.references.smoothing import smoothed
from iap_description import frames
from iap_description.math import so3
from iap_description.states import REF_A, REF_ALPHA, REF_P, REF_Q
from iap_io.trajectories.points import slerp
from iap_io.trajectories.reader import read_recorded
from iap_io.trajectories.recorded import RecordedTrajectory

Array = NDArray[np.float64]

FLIGHTS = ("v1_01_easy", "v1_02_medium")
FORMS = (".csv", "_pose", "_ned.bag")


def degrees(q: Array, r: Array) -> Array:
    """Angles between attitudes [deg]."""
    turned = so3.quaternion_log(so3.multiply(so3.conjugate(q), r))
    return np.degrees(np.linalg.norm(turned, axis=1))


def linear(t: Array, t_samples: Array, values: Array) -> Array:
    """Vectors (T, n) at times (T,), on straight lines between samples (K, n)."""
    return np.stack([np.interp(t, t_samples, column) for column in values.T], axis=1)


def rms(values: Array) -> float:
    """Root mean square."""
    return float(np.sqrt(np.mean(values**2)))


def write_in_ned(source: Path, target: Path) -> None:
    """The CSV with its numbers in NED/FRD."""
    stamps = [line.split(",")[0] for line in source.read_text().splitlines()[1:]]
    rows = np.loadtxt(source, delimiter=",", comments="#", usecols=range(1, 8))
    R_WI = so3.matrix_from_quaternion(so3.normalized(rows[:, [4, 5, 6, 3]]))
    q = so3.quaternion_from_matrix(frames.swap_attitude(R_WI))[:, [3, 0, 1, 2]]
    turned = np.hstack([frames.swap_world(rows[:, :3]), q]).tolist()
    lines = (",".join([t, *map(repr, row)]) for t, row in zip(stamps, turned, strict=True))
    target.write_text("\n".join(lines))


@pytest.fixture(scope="module", params=FLIGHTS)
def forms(
    request: pytest.FixtureRequest, real_flight: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, RecordedTrajectory]:
    """One flight in its three forms, and the CSV turned to NED as the fourth."""
    found = {form: read_recorded(real_flight / f"{request.param}{form}") for form in FORMS}
    path = tmp_path_factory.mktemp("ned") / f"{request.param}.csv"
    write_in_ned(real_flight / f"{request.param}.csv", path)
    return found | {"_ned.csv": read_recorded(path, convention="ned")}


@pytest.fixture
def grid(forms: dict[str, RecordedTrajectory]) -> Array:
    """The control steps that all forms cover."""
    return np.arange(0.0, min(form.duration for form in forms.values()), 0.005)


def test_flight_starts_level_at_zero_yaw_in_every_form(
    forms: dict[str, RecordedTrajectory],
) -> None:
    for form in forms.values():
        np.testing.assert_allclose(form.p_WP_W[0], [0.0, 0.0, 1.5], atol=1e-12)
        np.testing.assert_allclose(form.q_WP[0], [0.0, 0.0, 0.0, 1.0], atol=1e-12)
        assert form.v_WP_W is None


def test_first_stamp_is_the_same_moment_in_every_form(
    forms: dict[str, RecordedTrajectory],
) -> None:
    csv = forms[".csv"]
    for form in forms.values():
        t = form.t[form.t <= csv.duration]
        p = linear(t, csv.t, csv.p_WP_W)
        q = slerp(t, csv.t, csv.q_WP)
        assert np.abs(p - form.p_WP_W[: len(t)]).max() < 1e-6
        assert degrees(q, form.q_WP[: len(t)]).max() < 1e-4


def test_forms_agree_between_their_samples(
    forms: dict[str, RecordedTrajectory], grid: Array
) -> None:
    rows = {name: linear(grid, form.t, form.p_WP_W) for name, form in forms.items()}
    smooth = {name: smoothed(form)(grid)[:, REF_P] for name, form in forms.items()}
    for name in forms:
        assert np.linalg.norm(rows[name] - rows[".csv"], axis=1).max() < 1e-3
        assert np.linalg.norm(smooth[name] - smooth[".csv"], axis=1).max() < 5e-4


def test_smooth_copy_hides_nothing(forms: dict[str, RecordedTrajectory], grid: Array) -> None:
    for form in forms.values():
        smooth = smoothed(form)(grid)
        given = linear(grid, form.t, form.p_WP_W)
        distance = np.linalg.norm(smooth[:, REF_P] - given, axis=1)
        angle = degrees(smooth[:, REF_Q], slerp(grid, form.t, form.q_WP))
        a, alpha = (np.linalg.norm(smooth[:, part], axis=1) for part in (REF_A, REF_ALPHA))
        print(  # noqa: T201 - the numbers are the point
            f"{Path(form.source).name}: position {1e3 * rms(distance):.2f} mm RMS, "
            f"{1e3 * distance.max():.2f} max; attitude {rms(angle):.3f} deg RMS, "
            f"{angle.max():.2f} max; acceleration {a.max():.1f} m/s^2 max, "
            f"{alpha.max():.1f} rad/s^2 max"
        )
        assert rms(distance) < 1.2e-3
        assert distance.max() < 0.02
        assert rms(angle) < 0.35
        # The aircraft tilted by at most 29 deg: more sideways acceleration would be noise.
        assert a.max() < 10.0
        assert alpha.max() < 20.0
