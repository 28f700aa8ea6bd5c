# SPDX-License-Identifier: BSD-3-Clause
"""Controllers of platforms, what they observe, and what they do about faults."""
