# SPDX-License-Identifier: BSD-3-Clause
"""The terms of the cost, compiled, each with its slopes."""
