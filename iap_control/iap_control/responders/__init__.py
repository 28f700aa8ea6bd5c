# SPDX-License-Identifier: BSD-3-Clause
"""Controllers between messages: one answer for every state."""
