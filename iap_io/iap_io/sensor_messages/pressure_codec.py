# SPDX-License-Identifier: BSD-3-Clause
"""Pressures as messages."""

from iap_io.sensor_messages.scalar_codec import ScalarCodec


class PressureCodec(ScalarCodec):
    """Pressures [Pa] as sensor_msgs/FluidPressure."""

    MSGTYPE, VALUE, VARIANCE = "sensor_msgs/msg/FluidPressure", "fluid_pressure", "variance"
