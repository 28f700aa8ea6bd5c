# SPDX-License-Identifier: BSD-3-Clause
"""A platform's rod pushes a loose object over a table to a place."""
