# SPDX-License-Identifier: BSD-3-Clause
"""A session: a plant that is commanded from outside, what it does without commands, and what ends its flight."""
