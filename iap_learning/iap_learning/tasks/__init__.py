# SPDX-License-Identifier: BSD-3-Clause
"""Tasks as data and as pure functions of the worlds' states: observation, reward, success, end."""
