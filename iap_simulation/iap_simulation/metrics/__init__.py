# SPDX-License-Identifier: BSD-3-Clause
"""metrics.json: what a run achieved."""
