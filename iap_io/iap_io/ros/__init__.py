# SPDX-License-Identifier: BSD-3-Clause
"""The base class of nodes, conversions to messages, and synchronisation by stamps."""
