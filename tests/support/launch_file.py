# SPDX-License-Identifier: BSD-3-Clause
"""Launches a file as ros2 launch does: python launch_file.py FILE NAME:=VALUE ...; ends with the launch's exit code."""

import sys

from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import AnyLaunchDescriptionSource


def main(path: str, *arguments: str) -> int:
    service = LaunchService(argv=list(arguments))
    given = [tuple(each.split(":=", 1)) for each in arguments]
    included = IncludeLaunchDescription(AnyLaunchDescriptionSource(path), launch_arguments=given)
    service.include_launch_description(LaunchDescription([included]))
    return service.run()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
