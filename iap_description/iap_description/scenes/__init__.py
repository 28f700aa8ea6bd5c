# SPDX-License-Identifier: BSD-3-Clause
"""Places to fly in and to localise in: what is seen of them, and what is touched."""
