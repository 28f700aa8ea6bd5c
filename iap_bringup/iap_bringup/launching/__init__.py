# SPDX-License-Identifier: BSD-3-Clause
"""From launch arguments and scenarios to the parameters of nodes."""
