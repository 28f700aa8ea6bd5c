# SPDX-License-Identifier: BSD-3-Clause
"""Cameras: what they are, the model of their lens, and the renderers that make their images."""
