# SPDX-License-Identifier: BSD-3-Clause
"""Tasks of one platform: goals, rewards and ends as data."""
