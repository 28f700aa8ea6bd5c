# SPDX-License-Identifier: BSD-3-Clause
"""The place of a sensor, a tool's tip or a docking port on its body."""

from iap_description.config.record import Record, Vec3


class Mount(Record):
    """The place of a sensor, or of another frame, on its body."""

    position: Vec3  # [m]
    rpy_deg: Vec3
