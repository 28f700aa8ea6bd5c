# SPDX-License-Identifier: BSD-3-Clause
"""Gains of an aircraft's own autopilot, as the plant flies them and as observers model them."""

from pydantic import Field

from iap_description.config import Positive, Record, Vec3


class AutopilotGains(Record):
    """Attitude and rate loop inside each aircraft, per inertia."""

    rate_hz: Positive | None  # None is the physics rate
    attitude: Vec3  # [1/s^2]
    rate: Vec3  # [1/s]
    rotor_lead: float = Field(strict=True, ge=1.0, le=10.0)
