# SPDX-License-Identifier: BSD-3-Clause
"""What is measured: the truth, corrupted by named noise streams."""
