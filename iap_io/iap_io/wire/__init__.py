# SPDX-License-Identifier: BSD-3-Clause
"""Serialised messages (CDR) as views on arrays, without message objects."""
