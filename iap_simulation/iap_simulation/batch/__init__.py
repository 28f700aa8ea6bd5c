# SPDX-License-Identifier: BSD-3-Clause
"""Many worlds of one scenario, flown side by side; each is the single run of its seed, bit for bit."""
