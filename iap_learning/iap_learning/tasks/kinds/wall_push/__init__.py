# SPDX-License-Identifier: BSD-3-Clause
"""A platform's tool pushes on a wall with a given force."""
