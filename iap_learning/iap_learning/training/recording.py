# SPDX-License-Identifier: BSD-3-Clause
"""Recorded episodes for the stage offline, flown anew for each training."""

from typing import NamedTuple

from iap_description.errors import BadInput
from iap_learning.episodic import Episodic
from iap_learning.training.experiment import Data, Experiment
from iap_learning.training.transitions import Transitions


class Recorded(NamedTuple):
    """Recorded steps.

    Attributes:
        steps: of all episodes that are kept.
        digest: SHA-256 of their numbers, in hexadecimal.
    """

    steps: Transitions
    digest: str


def recorded(experiment: Experiment, data: Data, episodes: Episodic) -> Recorded:
    """Fly and record.

    Raises:
        BadInput: there is no such policy for this task.
    """
    raise BadInput(f"experiment '{experiment.name}': key 'offline.data.policy': {data.policy} flies no {experiment.task}")
