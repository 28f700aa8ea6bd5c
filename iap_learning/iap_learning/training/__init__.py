# SPDX-License-Identifier: BSD-3-Clause
"""Training of policies in JAX: offline from data sets, by experts in their own flights, online in episodes."""
