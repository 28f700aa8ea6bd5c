# SPDX-License-Identifier: BSD-3-Clause
"""Settings of the documentation site, which ``./iap docs`` builds."""

import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools" / "documentation"))

from site_pages import python_folders  # noqa: E402 - it stands in tools

from iap_bringup import __version__  # noqa: E402

project, author, release = "IAP simulation suite", "the authors of the suite", __version__
extensions = [
    "myst_parser",
    "sphinx.ext.napoleon",
    "site_pages",
]
exclude_patterns = ["_build"]
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_title = f"{project} {release}"
html_copy_source = html_show_copyright = False
default_role = "code"  # what stands in `single quotes` in docstrings

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
napoleon_use_ivar = True  # attributes are listed with their class, as what they are in it

autoapi_dirs = python_folders()
shutil.rmtree(
    ROOT / "docs" / "reference" / "python", ignore_errors=True
)  # of a build that was ended
if autoapi_dirs:
    extensions.append("autoapi.extension")
autoapi_root = "reference/python"
autoapi_options = ["members", "show-inheritance", "show-module-summary"]
autoapi_add_toctree_entry = False
suppress_warnings = [
    "autoapi.python_import_resolution",  # of names that are made at run time
    "ref.python",  # of types that classes of several packages are named like
]
