# SPDX-License-Identifier: BSD-3-Clause
"""The engine by MuJoCo."""
