# SPDX-License-Identifier: BSD-3-Clause
"""Tables on the terminal."""
