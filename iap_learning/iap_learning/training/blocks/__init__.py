# SPDX-License-Identifier: BSD-3-Clause
"""Blocks of policies while they learn: their first weights, and their outputs over whole episodes for JAX."""
