# SPDX-License-Identifier: BSD-3-Clause
"""A platform's patch sticks to a wall, on which it then hangs with idle rotors."""
