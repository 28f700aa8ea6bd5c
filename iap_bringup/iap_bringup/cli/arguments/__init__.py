# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of commands, without the modules that do the work: what is mistyped is refused at once."""
