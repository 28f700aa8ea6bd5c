# SPDX-License-Identifier: BSD-3-Clause
"""Many worlds of free flight side by side, in blocks that fill a processor's vector units."""
