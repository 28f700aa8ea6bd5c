# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of a log's commands that are flown in open loop, by their names."""

from collections.abc import Callable, Mapping

from iap_io.flight_logs.flight_log import FlightLog
from iap_simulation.identification.rotorcraft.flight_table import FlightTable
from iap_simulation.open_loop.attitudes import AttitudeCommands
from iap_simulation.open_loop.command_source import CommandSource, ReplayAircraft
from iap_simulation.open_loop.motors import MotorCommands

SourceOf = Callable[[FlightLog, FlightTable, ReplayAircraft], CommandSource]

KINDS: Mapping[str, SourceOf] = {"attitude": AttitudeCommands.of, "motors": MotorCommands.of}
