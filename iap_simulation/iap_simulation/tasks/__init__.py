# SPDX-License-Identifier: BSD-3-Clause
"""Tasks of flights: the words for their outcomes, and monitors that follow them."""
