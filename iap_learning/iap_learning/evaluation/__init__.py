# SPDX-License-Identifier: BSD-3-Clause
"""Evaluation of policies over many episodes: figures, failures by their causes, pictures."""
