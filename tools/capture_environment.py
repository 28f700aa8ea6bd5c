# SPDX-License-Identifier: BSD-3-Clause
"""Writes what sourcing the built packages changes in the environment as export lines.

Usage: capture_environment.py ROOT VENV UNDERLAY > environment.sh; UNDERLAY is "wheels" or a ROS 2
that is sourced. The lines take no time to source, and they extend lists such as PATH, so that the
environment of each later call is kept.
"""

import os
import subprocess
import sys
from pathlib import Path
from shlex import quote

ROS_LISTS = {"AMENT_PREFIX_PATH", "CMAKE_PREFIX_PATH", "COLCON_PREFIX_PATH", "PYTHONPATH"}
LISTS = ROS_LISTS | {"PATH", "LD_LIBRARY_PATH", "PKG_CONFIG_PATH"}
DDS_PROFILES = {  # as the libraries of Fast DDS 3 and 2 (of Jazzy) call it; the caller's own counts
    "libfastdds.so": "FASTDDS_DEFAULT_PROFILES_FILE",
    "libfastrtps.so": "FASTRTPS_DEFAULT_PROFILES_FILE",  # at which Fast DDS 3 warns
}
SHELL_OWN = {"_", "SHLVL", "PWD", "OLDPWD"}


def callers_environment(root: Path) -> dict[str, str]:
    """This call's environment without what an earlier set-up of this checkout put into it."""

    def foreign(value: str) -> str:
        return ":".join(entry for entry in value.split(":") if not entry.startswith(f"{root}/"))

    return {name: foreign(value) if name in LISTS else value for name, value in os.environ.items()}


def wheel_environment(venv: Path) -> dict[str, str]:
    """Variables that the wheels need to be a ROS 2; their libraries here save a second start of Python."""
    libraries = [venv / "lib", *sorted(venv.glob("lib/python3*/site-packages/ros_*.libs"))]
    return {
        "AMENT_PREFIX_PATH": str(venv),
        "CMAKE_PREFIX_PATH": str(venv),
        "LD_LIBRARY_PATH": ":".join(map(str, libraries)),
        "RMW_IMPLEMENTATION": "rmw_fastrtps_cpp",  # the only one that comes as a wheel
        "_ROS_WHEELS_BOOTSTRAP_COMPLETE": "1",
    }


def sourced(setup: Path, env: dict[str, str]) -> dict[str, str]:
    """The environment after sourcing a setup file in bash."""
    command = ["bash", "-c", f"source {quote(str(setup))} && env -0"]
    output = subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE).stdout
    return dict(entry.split("=", 1) for entry in output.decode().split("\0") if entry)


def export_line(name: str, value: str, before: str, alone: bool) -> str:
    """One line of shell: a list goes in front of the caller's unless it stands alone."""
    if name not in LISTS:
        return f"export {name}={quote(value)}\n"
    known = {"", *before.split(":")}
    added = ":".join(entry for entry in dict.fromkeys(value.split(":")) if entry not in known)
    return f"export {name}={quote(added)}" + ("\n" if alone else f"${{{name}:+:${name}}}\n")


def main(root: Path, venv: Path, underlay: str) -> None:
    """Prints the export lines."""
    wheels = underlay == "wheels"
    before = {"PATH": "/usr/bin:/bin"} if wheels else callers_environment(root)
    own = {"PATH": f"{venv}/bin:{before['PATH']}", "VIRTUAL_ENV": str(venv)}
    own |= wheel_environment(venv) if wheels else {}
    after = sourced(venv / "install" / "setup.bash", before | own)
    for name, value in sorted(after.items()):
        if name not in SHELL_OWN and value != before.get(name):
            alone = wheels and name in ROS_LISTS  # no other ROS may shine through the wheels
            sys.stdout.write(export_line(name, value, before.get(name, ""), alone))
    if wheels:
        profiles = quote(str(root / "tools" / "fastdds.xml"))
        for library, name in DDS_PROFILES.items():
            if (venv / "lib" / library).exists():
                sys.stdout.write(f": ${{{name}:={profiles}}}\nexport {name}\n")
    sys.stdout.write("unset PYTHONHOME\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
