# SPDX-License-Identifier: BSD-3-Clause
"""The sliding window, what fills it, and the estimator around it."""
