# SPDX-License-Identifier: BSD-3-Clause
"""The drift filter: four degrees of freedom of every odometry."""
