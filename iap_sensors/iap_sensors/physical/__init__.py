# SPDX-License-Identifier: BSD-3-Clause
"""A renderer in physical light: sun, sky, lamps, fog and matter in linear quantities, by OpenGL."""
