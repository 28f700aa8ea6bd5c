# SPDX-License-Identifier: BSD-3-Clause
"""What an answer waits for: a state and its reference, and what a policy asks for beside them; by a policy made up."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from iap_description.states import Q
from iap_learning.tasks.kinds.platform.platform_responder import PlatformResponder
from iap_learning.tasks.senses import Sense, Senses

X = np.zeros((2, 13))
X[:, Q] = [0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)]  # a quarter turn about z, (x, y, z, w)
RPM = np.full((1, 4), 5000.0)
ROW = np.arange(20.0)
WRENCH_P = np.array([1.0, 0.0, 2.0, 0.0, 3.0, 4.0])
WRENCH_W = (0.0, 1.0, 2.0, -3.0, 0.0, 4.0)
OBJECTS, PHASES = np.ones((3, 13)), np.array([2, 0])


class Flights:
    """Policies made up, which keep what they are asked."""

    def __init__(self, *asks_for: Sense) -> None:
        self.asks_for, self.made, self.asked = asks_for, 0, []

    def __call__(self) -> Any:
        self.made += 1
        return Answering(self)


class Answering(SimpleNamespace):
    """A policy that answers with the number of the state."""

    def __init__(self, flights: Flights) -> None:
        super().__init__(
            asks_for=flights.asks_for, inputs=(), lacks=lambda *_: (), flights=flights
        )

    def __call__(self, k: int, *given: Any) -> int:
        self.flights.asked.append((k, *given))
        return k


def test_where_nothing_else_is_asked_for_a_state_and_its_reference_suffice() -> None:
    flights: Any = Flights()
    responder = PlatformResponder(flights)
    assert responder.take_reference(10, ROW) is None
    assert (responder.stamp, responder.sequence, responder.answered) == (-1, 0, 0)
    assert responder.take_state(10, 3, X, RPM) == 3
    assert (responder.stamp, responder.sequence, responder.answered) == (10, 3, 1)
    assert flights.asked[0][-1] == Senses()


@pytest.mark.parametrize("last", ["state", "reference", "wrench"])
def test_a_policy_that_feels_waits_for_the_wrench_too_and_gets_it_in_world_axes(last: str) -> None:
    flights: Any = Flights(Sense.WRENCH)
    responder = PlatformResponder(flights)
    take = {
        "state": lambda: responder.take_state(10, 3, X, RPM),
        "reference": lambda: responder.take_reference(10, ROW),
        "wrench": lambda: responder.take_sense(Sense.WRENCH, 10, WRENCH_P),
    }
    closing: Any = take.pop(last)
    assert [each() for each in take.values()] == [None, None]
    assert closing() == 3 and responder.answered == 1
    _, x, rpm, row, senses = flights.asked[0]
    assert x is X and rpm is RPM and row is ROW
    np.testing.assert_allclose(senses.wrench, WRENCH_W, atol=1e-12)
    assert senses.objects is senses.phases is None


@pytest.mark.parametrize(
    "asked",
    [
        (Sense.WRENCH, Sense.OBJECTS),
        (Sense.WRENCH, Sense.PHASES),
        (Sense.PHASES, Sense.OBJECTS, Sense.WRENCH),
        (Sense.OBJECTS,),
    ],
)
def test_a_policy_is_given_each_part_that_it_asks_for(asked: tuple[Sense, ...]) -> None:
    parts = {Sense.WRENCH: WRENCH_P, Sense.OBJECTS: OBJECTS, Sense.PHASES: PHASES}
    flights: Any = Flights(*asked)
    responder = PlatformResponder(flights)
    responder.take_state(10, 3, X, RPM)
    answer: Any = responder.take_reference(10, ROW)
    for sense in sorted(asked, key=lambda each: each.value):
        assert answer is None
        answer = responder.take_sense(sense, 10, parts[sense])
    assert answer == 3
    given = flights.asked[0][-1]
    assert given.objects is (OBJECTS if Sense.OBJECTS in asked else None)
    assert given.phases is (PHASES if Sense.PHASES in asked else None)
    if Sense.WRENCH in asked:
        np.testing.assert_allclose(given.wrench, WRENCH_W, atol=1e-12)
    else:
        assert given.wrench is None


def test_an_instant_that_comes_again_gets_its_answer_and_an_earlier_one_a_new_flight() -> None:
    flights: Any = Flights()
    responder = PlatformResponder(flights)
    for stamp, k, made, asked in ((10, 3, 1, 1), (10, 3, 1, 1), (20, 4, 1, 2), (10, 3, 2, 3)):
        responder.take_reference(stamp, ROW)
        assert responder.take_state(stamp, k, X, RPM) == k
        assert (flights.made, len(flights.asked), responder.answered) == (made, asked, asked)
