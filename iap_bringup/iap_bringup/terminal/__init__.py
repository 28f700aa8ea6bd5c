# SPDX-License-Identifier: BSD-3-Clause
"""Tables and lines on the terminal."""
