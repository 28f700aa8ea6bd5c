# SPDX-License-Identifier: BSD-3-Clause
"""Materials made by procedure from noise: what they reflect, how rough they are, and their relief."""
