# SPDX-License-Identifier: BSD-3-Clause
"""A platform's tool pushes what turns about a hinge: a door, or the lever of a valve."""
