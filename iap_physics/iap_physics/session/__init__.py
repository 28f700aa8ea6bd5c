# SPDX-License-Identifier: BSD-3-Clause
"""A plant that is commanded by messages: which command counts, what flies without one, what ends the flight."""
