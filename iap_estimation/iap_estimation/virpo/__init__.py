# SPDX-License-Identifier: BSD-3-Clause
"""Visual-inertial-range-physical odometry (virpo; iap_simulator IV-D): distributed, joint, and as a drift filter."""
