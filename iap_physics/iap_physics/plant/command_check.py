# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of command that a plant takes."""

from iap_description.errors import BadInput
from iap_description.states import Command, Mode

NO_WRENCH_HERE = "command: a platform wrench is for its controller: publish on command/wrench"
NO_VELOCITY_HERE = "command: velocities are for a plant identified from logs (key 'plant.type')"
ONLY_VELOCITY_HERE = (
    "command: a plant identified from logs takes velocities (key 'control.law': velocity)"
)


def check_mode(command: Command, *, takes_velocity: bool) -> None:
    """Refuse a command of a kind that a plant does not take.

    Args:
        command: to a vehicle.
        takes_velocity: whether the plant takes velocities alone, as one that was identified from logs does.

    Raises:
        BadInput: it is a platform wrench, or it is a velocity and the plant takes none, or takes nothing else.
    """
    if command.mode == Mode.WRENCH:
        raise BadInput(NO_WRENCH_HERE)
    is_velocity = command.mode == Mode.VELOCITY
    if is_velocity != takes_velocity:
        raise BadInput(NO_VELOCITY_HERE if is_velocity else ONLY_VELOCITY_HERE)
