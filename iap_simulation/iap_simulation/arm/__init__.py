# SPDX-License-Identifier: BSD-3-Clause
"""Flights with an arm: monitors of its end effector, stability of its law, batches on an identified plant."""
