# SPDX-License-Identifier: BSD-3-Clause
"""Free flight of many worlds side by side, in blocks that fill a processor's vector units."""
