# SPDX-License-Identifier: BSD-3-Clause
"""Policies over many episodes: rates of success, failures by their causes, pictures."""
