# SPDX-License-Identifier: BSD-3-Clause
"""What a stereo pair of cameras sees, as tracks of points: corners followed in time and from left to right."""
