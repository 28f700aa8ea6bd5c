# SPDX-License-Identifier: BSD-3-Clause
"""A platform's rod is pushed into a bore that leans by an unknown angle."""
