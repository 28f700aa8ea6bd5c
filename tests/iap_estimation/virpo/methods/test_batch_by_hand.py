# SPDX-License-Identifier: BSD-3-Clause
"""Notes of the batch on its way, and its central body, by stand-ins of its windows."""

from types import SimpleNamespace

import numpy as np
import pytest
from made_up_measurements import ranges, tracks
from synthetic_fleet import fleet_of

from iap_estimation.virpo.messages import Estimate, ImuSample, Tilt
from iap_estimation.virpo.methods.batch import BatchLocalizer
from iap_estimation.virpo.spec import load_spec

pytest.importorskip("gtsam")
SPEC, FLEET = load_spec(), fleet_of(2)
LEVEL = np.array([0.0, 0.0, 0.0, 1.0])


def batch(count=2, **settings):
    spec = SPEC.model_copy(update={"batch": SPEC.batch.model_copy(update=settings)})
    fleet = FLEET if count == 2 else FLEET.alone(0)
    return BatchLocalizer(fleet, spec, lambda a, t: np.r_[FLEET.d[a], LEVEL, np.zeros(9)], None)


def told(t, a):
    zero = np.zeros(3)
    return Estimate(
        t, FLEET.d[a] + [1.0, 2.0, 3.0], LEVEL, zero, zero, zero, 1e-4 * np.eye(15), zero
    )


def test_keyframes_are_noted_where_its_window_has_new_ones():
    made, heard = batch(), []
    for a, (log, single) in enumerate(zip(made.logs, made.aircraft, strict=True)):
        log.keep = lambda window, a=a: heard.append((a, window is made.aircraft[a].estimator))
        single.imu = lambda sample: sample.t > 0.5
        single.tracks = lambda seen: seen.t > 0.5
    for t in (0.1, 0.6):
        sample = ImuSample(t, np.zeros(3), np.array([0.0, 0.0, 9.81]))
        assert made.imu(1, sample) is (t > 0.5)
        assert made.tracks(0, tracks(t)) is (t > 0.5)
    assert heard == [(1, True), (0, True)]


@pytest.mark.parametrize(("has_ranges", "count"), [(True, 2), (False, 0)])
def test_ranges_count_in_both_where_the_settings_say_so(has_ranges, count):
    made, heard = batch(ranges=has_ranges), []
    made.logs[1].ranges = heard.append
    made.aircraft[1].ranges = heard.append
    made.ranges(1, ranges(1.0))
    assert len(heard) == count


def test_the_centre_is_at_times_of_which_all_aircraft_have_estimates():
    made = batch()
    for k in range(11):
        made.tilt(Tilt(0.1 * k, LEVEL, np.zeros(3), np.array([0.0, 0.0, 9.81])))
    first = [told(t, 0) for t in (0.0, 0.2, 0.3, 0.5, 2.0)]
    second = [told(t, 1) for t in (0.0, 0.2004, 0.4, 0.5, 2.0)]
    found = made._centres([first, second])
    assert [one.t for one in found] == [0.0, 0.2, 0.5], "at 2 s the centre's own unit says nothing"
    np.testing.assert_allclose(found[2].p_WB_W, [1.0, 2.0, 3.0], atol=1e-6)
    assert batch(1)._centres([first]) == []


def test_its_estimates_are_those_of_all_logs(monkeypatch):
    import iap_estimation.virpo.batch.smoothing as smoothing

    monkeypatch.setattr(
        smoothing, "smooth", lambda keyframes, fleet, spec: [keyframes, fleet.aircraft[0].name]
    )
    made = batch()
    made._centres = lambda aircraft: SimpleNamespace(of=len(aircraft))
    aircraft, centre = made.smoothed()
    assert aircraft == [[[], "drone_1"], [[], "drone_2"]] and centre.of == 2
