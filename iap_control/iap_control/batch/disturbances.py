# SPDX-License-Identifier: BSD-3-Clause
"""Wrenches that a block's controllers compensate; the formulas are those of `DisturbanceObserver`."""

from iap_control.batch.layout import PLATFORM, PLATFORM_ROW, read_motion, read_observer
from iap_control.controllers.disturbance_observer import Estimated, about_origin, estimate
from iap_description.arrays import Array
from iap_description.math.kernels import add6, chosen6, formula
from iap_description.math.lanes import Lanes, get, get6, set6

ZERO_WRENCH = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@formula
def observe(block: Array, dt: float, lanes: Lanes) -> None:
    """Take the estimated disturbances, as no wrench is measured in free flight."""
    for lane in range(lanes[0], lanes[1]):
        x = read_motion(block, PLATFORM_ROW, PLATFORM.p, lane)
        d = get6(block, PLATFORM_ROW, PLATFORM.disturbance, lane)
        is_observed = get(block, PLATFORM_ROW, PLATFORM.is_observed, lane) > 0.0
        last_h = get6(block, PLATFORM_ROW, PLATFORM.momentum, lane)
        numbers = read_observer(block, PLATFORM_ROW, PLATFORM.observer, lane)
        observed = Estimated(
            numbers.mass,
            numbers.gravity,
            numbers.d_0,
            numbers.J_C,
            numbers.share,
            numbers.limit,
            last_h,
            get6(block, PLATFORM_ROW, PLATFORM.made, lane),
            get(block, PLATFORM_ROW, PLATFORM.is_made_known, lane) > 0.0,
        )
        h, after = estimate(x, d, observed, dt)
        # a measured wrench would be added: no negative zeros, as with a wrench sensor
        wrench_e_P = add6(about_origin(after, x.q, numbers.d_0), ZERO_WRENCH)
        wrench_e_P = chosen6(is_observed, wrench_e_P, ZERO_WRENCH)
        set6(block, PLATFORM_ROW, PLATFORM.momentum, lane, chosen6(is_observed, h, last_h))
        set6(block, PLATFORM_ROW, PLATFORM.disturbance, lane, chosen6(is_observed, after, d))
        set6(block, PLATFORM_ROW, PLATFORM.external, lane, wrench_e_P)
