# SPDX-License-Identifier: BSD-3-Clause
"""Run folders: what is recorded of a run, how it gets into a bag, and how it is read back."""
