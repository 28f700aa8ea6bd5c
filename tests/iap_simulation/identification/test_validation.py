# SPDX-License-Identifier: BSD-3-Clause
"""Errors of models over logs, by channel, and the figures of an identification."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_physics.identified.dynamics import CHANNELS
from iap_simulation.identification.log import Log
from iap_simulation.identification.validation import errors_over, sizes, validation


def log_of(name, v, channels=CHANNELS[:4], **more):
    v = np.asarray(v, float) * np.ones((4, 7))
    sound = np.ones((4, 7), bool)
    sound[3] = False  # a spike
    v[3] = 1e6
    return Log(name, name, np.arange(4.0), 0.0 * v, v, np.zeros((4, 3)), channels, sound, **more)


LOGS = [log_of("a", np.arange(7.0)), log_of("b", 2.0, notes=("mended",))]


def test_velocities_are_means_of_squares_without_spikes_over_logs_and_channels_that_there_are():
    found = sizes(LOGS)
    assert list(found) == list(CHANNELS[:4])
    expected = np.sqrt((np.arange(4.0) ** 2 + 4.0) / 2.0)
    np.testing.assert_allclose(list(found.values()), expected)
    arm = log_of("c", np.arange(7.0), CHANNELS)
    assert sizes([arm])["q3_p"] == 6.0


def test_errors_are_those_of_predictions():
    found = errors_over(LOGS, lambda log: log.v + (0.3 if log.name == "a" else -0.4))
    assert list(found.values()) == pytest.approx([np.sqrt(0.125)] * 4)


def test_an_identification_tells_its_errors_over_logs_that_were_held_out_and_fitted():
    model = SimpleNamespace(
        plant=SimpleNamespace(model="dynamic"),
        figures={"lag_s": 0.2},
        parameters={"p1": (1.0, 0.1)},
        predictors={"this fit": lambda log: log.v + 0.1, "at rest": lambda log: 0.0 * log.v},
    )
    tree = validation(SimpleNamespace(fit=LOGS[:1], held_out=LOGS[1:], is_forced=False), model)
    assert (tree["model"], tree["lag_s"], tree["validated_on_training"]) == ("dynamic", 0.2, False)
    assert (tree["fit"], tree["validate"]) == (["a"], ["b"])
    assert tree["notes"] == {"b": ["mended"]} and tree["parameters"] == {"p1": [1.0, 0.1]}
    assert tree["rms"]["w"] == 2.0 and tree["rmse"]["at rest"]["w"] == 2.0
    assert tree["rmse"]["this fit"]["w"] == pytest.approx(0.1)
    assert tree["rmse_by_log"] == {"b": tree["rmse"]}
    assert tree["training_rmse"]["u_l"] == pytest.approx(0.1)
