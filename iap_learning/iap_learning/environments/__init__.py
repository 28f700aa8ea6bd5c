# SPDX-License-Identifier: BSD-3-Clause
"""Environments as gymnasium defines them; nothing else imports it."""
