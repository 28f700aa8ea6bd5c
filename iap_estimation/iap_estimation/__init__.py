# SPDX-License-Identifier: BSD-3-Clause
"""Estimation: front end, VIRPO, wrench observers, navigation, data sets."""
