#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the workspace in a container of Jazzy, as docs/getting_started/ros2.md says.
set -eo pipefail
cd -- "$(dirname -- "$0")/.."
sudo=; ((EUID == 0)) || sudo=sudo
$sudo apt-get update
$sudo apt-get install -y --no-install-recommends python3-pip
rosdep update
# Pip's keys are left to the requirements, which name the versions; PyBullet would compile for minutes.
rosdep install --from-paths . --ignore-src -y --skip-keys "python3-pybullet-pip python3-rosbags-pip python3-ruff-pip python3-trimesh-pip"
# Debian's packages have no records that pip could remove.
python3 -m pip install --ignore-installed -r requirements/core.txt -r requirements/underlay.txt
. /opt/ros/jazzy/setup.bash
colcon build
echo ". $PWD/install/setup.bash" >>~/.bashrc
