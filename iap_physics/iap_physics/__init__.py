# SPDX-License-Identifier: BSD-3-Clause
"""Physics: engines, rotors, drag and wind."""
