# SPDX-License-Identifier: BSD-3-Clause
"""Control laws by actuation: full, under-actuated, position and yaw."""
