# SPDX-License-Identifier: BSD-3-Clause
"""The sensors of a run: what a scenario asks for, where they sit, and what they say of every state."""
