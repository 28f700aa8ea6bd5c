# SPDX-License-Identifier: BSD-3-Clause
"""What is commanded: motion controllers, allocation and the aircraft's autopilot."""
