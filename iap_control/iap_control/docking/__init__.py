# SPDX-License-Identifier: BSD-3-Clause
"""Control of two aircraft that dock: observer and attitude law, guidance by script and by wrench."""
