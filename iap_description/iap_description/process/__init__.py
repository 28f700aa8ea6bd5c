# SPDX-License-Identifier: BSD-3-Clause
"""The process: interrupts, output of C libraries, the cache of compiled code."""
