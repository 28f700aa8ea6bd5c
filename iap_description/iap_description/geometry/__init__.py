# SPDX-License-Identifier: BSD-3-Clause
"""Shapes, solids and their triangles."""
