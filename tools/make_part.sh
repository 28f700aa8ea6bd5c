#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154
# Makes one part of a set-up: make_part.sh python|wheels|dev|messages|packages|kernels, called by tools/setup.sh with the
# variables root, underlay and python.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=workspace.sh
. "$root/tools/workspace.sh"

make_python() {
    local site=()
    [[ $underlay == wheels ]] || site=(--system-site-packages)
    rm -rf -- "$stamps" && rm -rf -- "$venv" "$root/build" "$root/install" # the stamps first: nothing half gone counts
    "$python" -m venv "${site[@]}" "$venv"
}

make_wheels() {
    cd -- "$root/requirements"
    write_constraints
    if [[ $underlay == wheels ]]; then
        pip_install -r core.txt -r ros.txt
        "$venv/bin/python" "$root/tools/patch_wheels.py"
    else
        # The system's compiled packages were built for the system's numpy: take none of them together with ours,
        # nor those two that numba imports wherever it finds them.
        pip_install --ignore-installed -r core.txt coverage scipy
        "$venv/bin/python" -c 'import colcon_cmake, colcon_ros' 2>/dev/null || pip_install -r colcon.txt
    fi
}

make_dev() {
    local fresh=()
    [[ $underlay == wheels ]] || fresh=(--ignore-installed)
    cd -- "$root/requirements"
    write_constraints
    pip_install "${fresh[@]}" -r dev.txt
    pip_install --no-deps -r oracles.txt
}

pip_install() {
    mkdir -p -- "$venv/tmp" # an interrupted pip leaves its gigabyte here, to go with the environment
    TMPDIR=$venv/tmp "$venv/bin/python" -m pip install --disable-pip-version-check --no-input --progress-bar off -c "$venv/constraints.txt" "$@"
}

# The locked versions; a ROS 2 installation keeps its own build tools and the pytest that its plugins were made for.
write_constraints() {
    local own='^#' version='from importlib.metadata import version; print("pytest==" + version("pytest").split("+")[0])'
    [[ $underlay == wheels ]] || own='^(#|ros-|colcon-|empy|setuptools|pytest|pluggy)'
    grep -vE "$own" lock.txt >"$venv/constraints.txt"
    [[ $underlay == wheels ]] || "$venv/bin/python" -c "$version" >>"$venv/constraints.txt" || echo "no pytest to keep"
}

make_messages() {
    rm -rf -- "$root/build" "$root/install"
    build iap_msgs --cmake-args -DBUILD_TESTING=OFF -DCMAKE_BUILD_TYPE=Release
}

make_packages() {
    cd -- "$root"
    rm -rf -- "${packages[@]/#/build/}" "${packages[@]/#/install/}"
    build "${packages[@]}"
    "$venv/bin/python" tools/capture_environment.py "$root" "$underlay" >"$venv/environment.sh"
}

# build PACKAGE... [OPTION...]: with links into the checkout, so that edits count at once.
build() (
    enter_underlay
    cd -- "$root"
    python -m colcon --log-base log build --base-paths iap_msgs "${packages[@]}" --symlink-install --packages-select "$@"
)

# What a build sees: the environment's programs first, and the wheels as the only ROS 2 where there is no other.
enter_underlay() {
    export PATH=$venv/bin:$PATH VIRTUAL_ENV=$venv
    unset PYTHONHOME
    [[ $underlay == wheels ]] || return 0
    unset PYTHONPATH LD_LIBRARY_PATH COLCON_PREFIX_PATH ROS_DISTRO
    export AMENT_PREFIX_PATH=$venv CMAKE_PREFIX_PATH=$venv
}

make_kernels() {
    rm -rf -- "$venv/numba"
    [[ -f $root/iap_bringup/iap_bringup/cli/warm_up.py ]] || return 0
    enter_environment
    python -P -m iap_bringup.cli.warm_up
}

"make_$1"
