# SPDX-License-Identifier: BSD-3-Clause
"""How it moves: engines, rotors, drag and wind."""
