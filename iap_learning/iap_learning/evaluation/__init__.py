# SPDX-License-Identifier: BSD-3-Clause
"""Policies judged over many episodes: figures, failures by their causes, pictures."""
