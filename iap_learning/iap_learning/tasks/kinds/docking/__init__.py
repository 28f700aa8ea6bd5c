# SPDX-License-Identifier: BSD-3-Clause
"""The task of docking: two aircraft of a docking scenario as one learner flies them."""
