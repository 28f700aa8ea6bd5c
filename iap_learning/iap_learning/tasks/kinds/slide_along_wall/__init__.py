# SPDX-License-Identifier: BSD-3-Clause
"""A platform's tool slides along a wall and pushes on it with a given force."""
