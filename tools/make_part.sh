#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154
# Makes one part of a set-up: make_part.sh python|wheels|dev|launch|messages|packages|kernels|dev_kernels, called by
# tools/setup.sh with the variables root and python.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=workspace.sh
. "$root/tools/workspace.sh"

make_python() {
    local site=()
    [[ $underlay == wheels ]] || site=(--system-site-packages)
    keep_kernels
    rm -rf -- "$stamps" && rm -rf -- "$venv" # the stamps first: nothing half gone counts
    "$python" -m venv "${site[@]}" "$venv"
}

# Puts kernels aside that were compiled with the same packages: they outlast the environment, wherever it is.
keep_kernels() {
    [[ -f $stamps/wheels && $(<"$stamps/wheels") == "$(key_of_wheels)" && -d $venv/numba ]] || return 0
    rm -rf -- "$kept_kernels" && mkdir -p -- "$kept_kernels"
    cut -d ' ' -f 2 "$stamps/python" >"$kept_kernels/root"
    mv -- "$venv/numba" "$kept_kernels/numba"
}

make_wheels() {
    cd -- "$root/requirements/lock"
    pip_install -r installer.txt
    if [[ $underlay == wheels ]]; then
        pip_install -r core.txt -r colcon.txt -r "$(ros_lock)"
        "$venv/bin/python" "$root/tools/patch_wheels.py"
    else
        # The system's compiled packages were built for the system's numpy: take none of them together with ours.
        pip_install --ignore-installed -r core.txt -r underlay.txt
        has colcon_cmake colcon_ros || pip_install -r <(without_pytest colcon.txt)
    fi
    "$venv/bin/python" "$root/tools/trim_wheels.py"
    compile_modules
}

# Compiles what was installed in as many processes as there are processors, without the packages' own tests.
compile_modules() {
    "$venv/bin/python" -m compileall -q -j 0 -x '/tests?/' "$venv/lib" || true # some templates are no Python
}

make_dev() {
    cd -- "$root/requirements/lock"
    if [[ $underlay == wheels ]]; then
        pip_install -r dev.txt
    else
        pip_install --ignore-installed -r dev.txt
        has pytest || pip_install -r colcon.txt
    fi
    compile_modules
}

has() { "$venv/bin/python" -c "import $1${2:+, $2}" 2>/dev/null; }

# A ROS 2 installation keeps the pytest that its plugins were made for.
without_pytest() { grep -vE '^(pytest|pluggy|iniconfig)' "$1"; }

# Installs what lock files list and nothing else, whatever the index offers: each file by its hash.
pip_install() {
    mkdir -p -- "$venv/tmp" # an interrupted pip leaves its gigabyte here, to go with the environment
    # PIP_USER=0: some systems' pip.conf asks for the user's own folder, which an environment does not have.
    PIP_USER=0 TMPDIR=$venv/tmp "$venv/bin/python" -m pip install --disable-pip-version-check --no-input --progress-bar off \
        --require-hashes --no-deps --no-build-isolation --no-compile "$@"
}

# Its packages alone: others of the same checkouts are among the wheels.
make_launch() {
    local paths
    mapfile -t paths < <(for each in "${launch_packages[@]}" "${with_launch[@]}"; do launch_source "$each"; done)
    rm -rf -- "$venv/launch"
    (
        enter_underlay
        cd -- "$root"
        python -m colcon --log-base log build --base-paths "${paths[@]}" --build-base "$venv/launch/build" \
            --install-base "$venv/launch/install" --merge-install --cmake-args -DBUILD_TESTING=OFF
    )
}

make_messages() {
    rm -rf -- "$venv/build" "$venv/install"
    build iap_msgs --cmake-args -DBUILD_TESTING=OFF -DCMAKE_BUILD_TYPE=Release
}

make_packages() {
    cd -- "$root"
    rm -rf -- "${packages[@]/#/$venv/build/}" "${packages[@]/#/$venv/install/}"
    build "${packages[@]}"
    "$venv/bin/python" tools/capture_environment.py "$root" "$venv" "$underlay" >"$venv/environment.sh"
}

# build PACKAGE... [OPTION...]: with links into the checkout, so that edits count at once, and beside what a colcon build of
# your own makes here.
build() (
    enter_underlay
    cd -- "$root"
    python -m colcon --log-base log build --base-paths iap_msgs "${packages[@]}" --build-base "$venv/build" \
        --install-base "$venv/install" --symlink-install --packages-select "$@"
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
    if [[ -d $kept_kernels/numba ]]; then
        rm -rf -- "$venv/numba"
        mv -- "$kept_kernels/numba" "$venv/numba"
    fi
    [[ -f $root/iap_bringup/iap_bringup/cli/warm_up.py ]] || return 0
    enter_environment
    if [[ -d $NUMBA_CACHE_DIR && -f $kept_kernels/root ]]; then
        local was
        was=$(<"$kept_kernels/root")
        python -P "$root/tools/move_kernels.py" "$NUMBA_CACHE_DIR" "$was${venv#"$root"}/build" "$venv/build" ||
            rm -rf -- "$NUMBA_CACHE_DIR"
    fi
    rm -rf -- "$kept_kernels"
    python -P -m iap_bringup.cli.warm_up
}

make_dev_kernels() {
    enter_environment
    python -P -m iap_bringup.cli.warm_up --all
}

"make_$1"
