# SPDX-License-Identifier: BSD-3-Clause
"""Tasks of flights: names of their outcomes, and the monitors that follow them."""
