# SPDX-License-Identifier: BSD-3-Clause
"""Training of policies: offline from data sets, online in episodes, in JAX."""
