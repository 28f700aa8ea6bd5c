# SPDX-License-Identifier: BSD-3-Clause
"""What ``iap experiment`` measures: each study flies or looks, and gives rows of a table."""
