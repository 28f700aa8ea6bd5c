# SPDX-License-Identifier: BSD-3-Clause
"""Arms of aircraft: commands to their joints, servos, grippers."""
