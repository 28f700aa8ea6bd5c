# SPDX-License-Identifier: BSD-3-Clause
"""States of a window, rotations, normal equations and the prior."""
