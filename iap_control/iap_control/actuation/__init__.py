# SPDX-License-Identifier: BSD-3-Clause
"""Kinds of actuation: what each can make of a wrench, its law, its allocation and its limits."""
