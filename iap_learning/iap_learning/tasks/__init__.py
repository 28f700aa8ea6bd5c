# SPDX-License-Identifier: BSD-3-Clause
"""Tasks of learning: episodes, observation, reward, outcome and agents, with a folder for each kind."""
