# SPDX-License-Identifier: BSD-3-Clause
"""Wrenches that messages ask for, and measured ones that come with a state, late or not at all."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flying import model_of

from iap_control.responders.state_responder import StateResponder
from iap_control.responders.wrench_input import WrenchDemand, WrenchInput, axes_of
from iap_description.errors import BadInput
from iap_description.signals import ForceMode

NO_WRENCH = np.zeros(6)


def test_a_wrench_that_messages_ask_for_holds_until_they_fall_silent() -> None:
    """It is zero from then on, also where a new message has not come yet."""
    demand = WrenchDemand(
        model_of("three_star"), ForceMode.SELECTIVE, ("x",), timeout=0.5, name="iap"
    )
    wrench = np.array([3.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    demand.take(1.0, wrench)
    task = demand.task(1.4, NO_WRENCH)
    assert task.mode == ForceMode.SELECTIVE
    np.testing.assert_array_equal(task.desired_P, wrench)
    task = demand.task(1.6, NO_WRENCH)
    assert task.mode == ForceMode.NONE
    np.testing.assert_array_equal(task.desired_P, NO_WRENCH)


def sixth(k: float) -> np.ndarray:
    return k * np.ones(6)


def test_a_state_waits_for_the_wrench_of_its_stamp_alone_and_only_where_stamps_count() -> None:
    wrenches = WrenchInput(0.1, "stamped")
    assert wrenches.is_awaited(10)
    wrenches.take(10, sixth(1.0))
    assert not wrenches.is_awaited(10) and wrenches.is_awaited(20)
    wrenches.take(20, sixth(2.0))
    assert not wrenches.is_awaited(10)  # the one before is kept
    newest, before = wrenches.at(20), wrenches.at(10)
    assert newest is not None and before is not None
    assert (newest[0], before[0]) == (2.0, 1.0)
    assert not WrenchInput(0.1, "latest").is_awaited(10)


def test_who_was_overtaken_waits_no_more_until_a_wrench_comes_in_time() -> None:
    wrenches = WrenchInput(0.1, "stamped")
    assert wrenches.is_awaited(10)
    wrenches.overtaken()
    assert not wrenches.is_awaited(20)
    wrenches.take(15, sixth(1.0))
    assert not wrenches.is_awaited(30)
    wrenches.take(30, sixth(2.0))
    assert wrenches.is_awaited(40)


def test_a_wrench_is_lost_after_its_timeout_and_before_the_first() -> None:
    wrenches = WrenchInput(0.1, "latest")
    assert wrenches.at(0) is None and wrenches.is_lost
    wrenches.take(1_000_000_000, sixth(3.0))
    assert wrenches.at(1_100_000_000) is not None and not wrenches.is_lost
    assert wrenches.at(1_100_000_001) is None and wrenches.is_lost
    wrenches.reset(500_000_000)  # time began anew, before what came
    assert not wrenches.is_lost and wrenches.at(500_000_000) is None


def test_a_responder_has_lost_a_wrench_only_where_one_is_measured() -> None:
    none: Any = SimpleNamespace(wrenches=None)
    assert StateResponder.has_lost_wrench.fget(none) is False  # type: ignore[attr-defined]
    wrenches = WrenchInput(0.1, "latest")
    measured: Any = SimpleNamespace(wrenches=wrenches, is_waiting=True, stamp=5)
    assert not StateResponder.has_lost_wrench.fget(measured)  # type: ignore[attr-defined]
    wrenches.at(5)
    assert StateResponder.has_lost_wrench.fget(measured)  # type: ignore[attr-defined]
    assert not StateResponder.waits_for_wrench.fget(measured)  # type: ignore[attr-defined]
    measured.wrenches = WrenchInput(0.1, "stamped")
    assert StateResponder.waits_for_wrench.fget(measured)  # type: ignore[attr-defined]


@pytest.mark.parametrize("value", [np.nan, np.inf, 1.1e6])
def test_a_wrench_that_is_none_is_refused(value: float) -> None:
    with pytest.raises(BadInput, match="^wrench: not finite, or beyond all bounds$"):
        WrenchInput(0.1, "latest").take(1, np.array([0.0, value, 0.0, 0.0, 0.0, 0.0]))
    WrenchInput(0.1, "latest").take(1, np.array([0.0, 0.95e6, 0.0, 0.0, 0.0, 0.0]))


def test_axes_are_those_that_are_named() -> None:
    assert axes_of(("z", "roll")).tolist() == [False, False, True, True, False, False]
    with pytest.raises(BadInput, match="wrench axes: 'up' is none of x, y, z, roll, pitch, yaw"):
        axes_of(("up",))
