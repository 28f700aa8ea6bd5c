# SPDX-License-Identifier: BSD-3-Clause
"""Set-up asks apt for EGL where it is missing, and goes on without it."""

import stat
import subprocess
import sys

import pytest
from checkouts import ROOT, call, environment

NO_EGL = 'case "$*" in *has_egl.py*) exit 1 ;; esac\n'


def programs(tmp_path, *, apt):
    """A caller's environment without EGL, and with an apt-get that ends with a status and keeps what it is told."""
    env = environment(tmp_path, venv="echo went on; exit 3")
    python = tmp_path / "bin" / "python3"
    python.write_text(python.read_text().replace("#!/bin/sh\n", "#!/bin/sh\n" + NO_EGL))
    told = tmp_path / "told"
    for name, text in (
        ("apt-get", f'echo "$*" >>{told}; exit {apt}'),
        ("sudo", 'shift; exec "$@"'),
    ):
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / "bin" / name).chmod(stat.S_IRWXU)
    return env, told


@pytest.mark.parametrize("status", [0, 100])
def test_missing_egl_is_asked_of_apt_and_set_up_goes_on_in_any_case(checkout, tmp_path, status):
    env, told = programs(tmp_path, apt=status)
    done = call(checkout, env)
    assert "install -y --no-install-recommends libegl1 libgl1-mesa-dri" in told.read_text()
    assert "libegl1 libgl1-mesa-dri (apt), for images by OpenGL" in done.stderr
    assert ("renderer: pybullet" in done.stderr) == (status != 0)
    assert "went on" in done.stderr


def test_egl_that_is_there_is_not_asked_for(checkout, tmp_path):
    done = call(checkout, environment(tmp_path, venv="exit 3"))
    assert "libegl1" not in done.stderr


def test_what_set_up_says_of_egl_is_what_the_renderer_finds(opengl):
    assert opengl.device
    assert subprocess.call([sys.executable, ROOT / "tools" / "has_egl.py"]) == 0
