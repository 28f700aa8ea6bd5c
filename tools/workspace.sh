# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154
# Where the parts of a set-up are, what each depends on, and how to enter it. Sourced with $root = the checkout.
#
# A part is finished when $venv/stamps/PART holds the part's current key. Keys are made of contents, never of times,
# so that a fresh clone, a moved checkout, another ROS 2 and a changed file are all seen, and nothing else is.

layout=3 # raise it when tools/ changes so that existing set-ups must be made anew
packages=(iap_description iap_io iap_physics iap_control iap_sensors iap_estimation iap_simulation iap_learning iap_bringup iap_suite)

launch_packages=(osrf_pycommon launch launch_yaml launch_xml composition_interfaces launch_ros launch_testing launch_pytest)
with_launch=(simulation_interfaces) # built with them where they are among the sources

say() { printf 'iap: %s\n' "$*" >&2; }

digest() { sha256sum | cut -c 1-16; }

# Chooses the underlay, what the packages stand on, and with it $venv, the environment that holds all that a set-up makes
# and that leaves those of other underlays alone: .venv for the wheels, .venv-DISTRO for a sourced ROS 2, whose key is
# DISTRO:PREFIXES (without this checkout's own).
choose_underlay() {
    underlay=wheels venv=$root/.venv
    if [[ -n ${ROS_DISTRO-} ]]; then
        local own=$root/.venv-${ROS_DISTRO//[^[:alnum:]]/_} sourced
        sourced=$ROS_DISTRO:$(tr ':' '\n' <<<"${AMENT_PREFIX_PATH-}" | grep -vF -- "$root/" | paste -sd :) || true
        # A ROS 2 may be sourced, but not for the Python that is here.
        if [[ -f $own/stamps/underlay && $(<"$own/stamps/underlay") == "$sourced" ]] || python3 -c 'import rclpy' 2>/dev/null; then
            underlay=$sourced venv=$own
        fi
    fi
    stamps=$venv/stamps kept_kernels=$venv-kernels
}
choose_underlay

key_of_underlay() { echo "$underlay"; }

# The Python environment: it holds absolute paths, and it breaks when its interpreter is replaced.
key_of_python() { echo "$layout $root $(readlink -f -- "$venv/bin/python")"; }

# The ROS 2 whose wheels an environment takes: Jazzy's on Jazzy's own Python, Kilted's on others.
ros_lock() { if grep -qs '^version = 3\.12\.' "$venv/pyvenv.cfg"; then echo jazzy.txt; else echo ros.txt; fi; }

key_of_wheels() { (cd -- "$root/requirements/lock" && cat installer.txt core.txt underlay.txt colcon.txt "$(ros_lock)" | digest); }

key_of_dev() { (cd -- "$root/requirements/lock" && cat dev.txt | digest); }

key_of_messages() {
    (cd -- "$root" && key_of_wheels && sha256sum -- iap_msgs/{package.xml,CMakeLists.txt,msg/*,srv/*}) | digest
}

# The Python packages are linked into $venv/install, not copied: only what is linked counts, and what declares it.
key_of_packages() {
    (
        cd -- "$root" && shopt -s nullglob
        key_of_messages
        sha256sum -- iap_*/{package.xml,setup.py,setup.cfg} tools/capture_environment.py
        # What Python leaves beside launch files that tests import is no file of ours.
        printf '%s\n' iap_*/{launch,rviz}/[!_]* iap_description/iap_description/data/{urdf,meshes}/*
    ) | digest
}

# The machine code that numba caches: what it looks for after an edit, when it compiles anew what the edit touches and
# keeps the rest (iap_description.process.kernel_stamps).
key_of_kernels() {
    (
        cd -- "$root" || exit
        sha256sum -- iap_description/iap_description/states.py
        grep -rlZ --include='*.py' -e njit -e formula -e warm_up "${packages[@]}" | sort -z | xargs -0 sha256sum --
    ) | digest
}

# ROS 2's launch, which no index has as wheels: built for the tests from the checkouts in the folder $IAP_LAUNCH_SOURCES.
key_of_launch() {
    (
        key_of_wheels
        cd -- "$IAP_LAUNCH_SOURCES" || exit
        find . -type f -not -path '*/.git/*' -print0 | sort -z | xargs -0 sha256sum --
    ) | digest
}

# The folder of a package among the sources of launch; nothing, if there is none.
launch_source() { find "$IAP_LAUNCH_SOURCES" -maxdepth 3 -path "*/$1/package.xml" -printf '%h\n' -quit; }

wants_launch() { [[ $1 == dev && -n ${IAP_LAUNCH_SOURCES-} ]]; }

# Tests find every kernel compiled; a set-up for runs compiles those of single flights alone.
key_of_dev_kernels() { key_of_kernels; }

is_fresh() {
    [[ -f $stamps/$1 && ! -f $stamps/$1.started && $(<"$stamps/$1") == "$("key_of_$1")" ]] || return
    [[ $1 != *kernels || -n $(find "$venv/numba" -name '*.nbc' -print -quit 2>/dev/null) ]]
}

# is_ready run|dev: whether every part of that profile is finished.
is_ready() {
    local part
    for part in python underlay wheels messages packages kernels; do
        is_fresh "$part" || return 1
    done
    ! wants_launch "$1" || is_fresh launch || return
    [[ $1 != dev ]] || { is_fresh dev && is_fresh dev_kernels; }
}

# The environment of the built packages; one thread per process, because threads only hurt on small matrices.
enter_environment() {
    export IAP_CALLERS_PYTHONPATH=${PYTHONPATH-} # behind our own, for classes named module:Class
    # shellcheck source=/dev/null
    . "$venv/environment.sh"
    export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} OPENBLAS_NUM_THREADS=${OPENBLAS_NUM_THREADS:-1}
    export ROS_AUTOMATIC_DISCOVERY_RANGE=${ROS_AUTOMATIC_DISCOVERY_RANGE:-LOCALHOST} # others' vehicles are not ours
    NUMBA_CACHE_DIR=$venv/numba
    [[ -w $venv ]] || take_kernels
    export NUMBA_CACHE_DIR
}

# ROS 2's launch in front of the packages, for launch_pytest and the processes that tests start.
enter_launch() {
    set +u # colcon's files read variables that are not set
    # shellcheck source=/dev/null
    . "$venv/launch/install/local_setup.bash"
    set -u
}

# Who cannot write in the environment takes links to its kernels into a folder of their own, where new ones go, too.
take_kernels() {
    local own=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/iap made=$NUMBA_CACHE_DIR
    mkdir -p -- "$own" 2>/dev/null || own=${TMPDIR:-/tmp}/iap-$(id -u)
    mkdir -pm 700 -- "$own" && [[ -O $own ]] || own=$(mktemp -d) # nobody else's code
    NUMBA_CACHE_DIR=$own/$(key_of_kernels)
    [[ ! -d $NUMBA_CACHE_DIR && -d $made ]] || return 0
    local begun=$NUMBA_CACHE_DIR.$$
    { cp -rs -- "$made" "$begun" && mv -T -- "$begun" "$NUMBA_CACHE_DIR"; } 2>/dev/null || rm -rf -- "$begun"
}
