#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154
# Decides which parts of a set-up are to be made and has tools/make_part.sh make them, one at a time, with a lock, a log
# and a clear end. ./iap sources this file; on its own, `tools/setup.sh [run|dev]` sets up and does nothing more.
# Progress goes to standard error.

child=
no_network='NewConnectionError|ConnectTimeoutError|Temporary failure in name resolution|Network is unreachable|ProxyError'
apt_install=(apt-get install -y --no-install-recommends)

set_up() {
    local started=$SECONDS
    log=$root/log/setup.log
    is_plain "$root" ||
        give_up "ROS 2's tools cannot work in '$root': move it to a path without $unfit"
    can_write "$root" ||
        give_up "cannot set up in $root: $(id -un) cannot write there; set it up as its owner, by ./iap list"
    ! wants_launch "$1" || need_launch_sources
    trap 'interrupted 130' INT
    trap 'interrupted 143' TERM
    mkdir -p -- "$root/log"
    take_lock
    if ! is_ready "$1"; then # another call may have done it meanwhile
        : >"$log"
        say "setting up on ${underlay%%:*}, once, in two minutes or more; the whole output is in $log"
        [[ $underlay != wheels || -z ${ROS_DISTRO-} ]] ||
            say "ROS 2 $ROS_DISTRO is sourced, but $(command -v python3) cannot import its rclpy: using the wheels"
        need_system_packages
        make_parts "$1"
        say "set up in $((SECONDS - started)) s"
    fi
    trap - INT TERM
    exec 9>&-
}

# Whether a path has nothing that divides lists or words, which $unfit names. Letters beyond ASCII are lost in the CMake
# files of a ROS 2 that is installed (rosidl_adapter's file(STRINGS) has no ENCODING); those of the wheels are mended.
is_plain() {
    local LC_ALL=C
    unfit="space, colon or semicolon"
    [[ $1 != *[[:space:][:cntrl:]:\;]* ]] || return 1
    unfit="letters beyond ASCII, which ROS 2 ${ROS_DISTRO-} leaves out of paths"
    [[ $underlay == wheels || $1 =~ ^[[:graph:]]+$ ]]
}

# Whether all that a set-up writes can be written: also a log of somebody else's, and an environment that is there.
can_write() {
    local each
    for each in "$1" "$1/log" "$1/log/setup.log" "$venv"; do
        [[ ! -e $each || -w $each ]] || return 1
    done
}

# Two calls at once must not both set up.
take_lock() {
    exec 9<"$root"
    flock -n 9 && return
    say "waiting for another set-up of this checkout"
    logged flock 9
}

make_parts() {
    # What another lock had put there would stay beside what this one lists.
    if ! is_fresh python || ! is_fresh underlay || [[ -f $stamps/wheels.started || -f $stamps/dev.started ]] ||
        { [[ -f $stamps/wheels ]] && ! is_fresh wheels; }; then
        say_moved
        make_part python "Python environment: $("$python" --version) of $python"
        echo "$underlay" >"$stamps/underlay"
    fi
    is_fresh wheels || make_part wheels "Python packages (pip)"
    [[ $1 != dev ]] || is_fresh dev || make_part dev "packages for the tests (pip$(compiled_by_pip))"
    ! wants_launch "$1" || is_fresh launch || make_part launch "ROS 2's launch (colcon, of $IAP_LAUNCH_SOURCES)"
    is_fresh messages || make_part messages "iap_msgs (colcon)"
    is_fresh packages || make_part packages "the Python packages (colcon)"
    is_fresh kernels || make_part kernels "machine code of the kernels of single flights (numba)"
    [[ $1 != dev ]] || is_fresh dev_kernels || make_part dev_kernels "machine code of all kernels (numba)"
}

# Whether the folder $IAP_LAUNCH_SOURCES has all that launch is built of.
need_launch_sources() {
    local each
    [[ $IAP_LAUNCH_SOURCES == /* && -d $IAP_LAUNCH_SOURCES ]] ||
        give_up "IAP_LAUNCH_SOURCES=$IAP_LAUNCH_SOURCES: an absolute path of a folder is needed"
    for each in "${launch_packages[@]}"; do
        [[ -n $(launch_source "$each") ]] ||
            give_up "IAP_LAUNCH_SOURCES=$IAP_LAUNCH_SOURCES: no package $each there; clone ros2/launch, ros2/launch_ros, ros2/rcl_interfaces and osrf/osrf_pycommon into it"
    done
}

# Says why an environment that is there is made anew.
say_moved() {
    local was
    [[ -f $stamps/python ]] && was=$(cut -d ' ' -f 2 "$stamps/python") && [[ $was != "$root" ]] || return 0
    say "this checkout was made at $was: what depends on its place is made anew in some minutes, compiled kernels are kept"
}

# PyBullet has wheels up to Python 3.11; on later ones only tests need it.
compiled_by_pip() {
    "$venv/bin/python" -c 'import sys; sys.exit(sys.version_info < (3, 12))' || return 0
    printf ', compiling pybullet for some minutes'
}

# make_part PART TITLE: makes the part and stamps it with the key it had at the start, so that a later change is seen.
make_part() {
    local part=$1 title=$2 key='' begin
    say "- $title"
    [[ $part == python ]] || { key=$("key_of_$part") && : >"$stamps/$part.started"; }
    printf '\n== %s\n' "$title" >>"$log"
    begin=$(wc -c <"$log")
    if ! logged env root="$root" python="$python" bash "$root/tools/make_part.sh" "$part"; then
        [[ $part == *kernels ]] || failed "$title" "$begin"
        say "  failed, so they compile when first used; why is in $log" # and the run itself shows it
        return
    fi
    mkdir -p -- "$stamps"
    echo "${key:-$("key_of_$part")}" >"$stamps/$part"
    rm -f -- "$stamps/$part.started"
}

# Runs a program in a process group of its own, so that an interrupt of this shell alone still ends all of it.
logged() {
    setsid -- "$@" >>"$log" 2>&1 </dev/null &
    child=$!
    wait "$child"
}

interrupted() {
    trap '' INT TERM
    if [[ -n $child ]] && { kill -TERM -- "-$child" || kill -TERM "$child"; } 2>/dev/null; then
        for _ in {1..50}; do
            kill -0 -- "-$child" 2>/dev/null || break
            sleep 0.1
        done
        kill -KILL -- "-$child" 2>/dev/null || true
    fi
    say "set-up interrupted; the next call goes on with it"
    exit "$1"
}

# failed TITLE BEGIN: shows the end of what the part wrote to the log, from its byte BEGIN on; a network that is not there
# is one line.
failed() {
    ! tail -c "+$(($2 + 1))" -- "$log" | grep -qE "$no_network" ||
        give_up "set-up failed at '$1': pip reaches no package index; connect to the network, or name a mirror by PIP_INDEX_URL, and call again: it goes on here"
    tail -c "+$(($2 + 1))" -- "$log" | tail -n 20 | sed 's/^/    /' >&2
    give_up "set-up failed at '$1': above the end of its output, the rest in $log"
}

give_up() {
    say "$*"
    exit 1
}

# Finds $python and sees to it that a compiler and Python's headers are there, by apt where that is allowed.
need_system_packages() {
    local missing=() fits="3.11 to 3.13 (for which the packages and the wheels of ROS 2 are locked), or that of a sourced ROS 2 up to 3.14"
    [[ $(uname -m) == x86_64 ]] || give_up "this machine is $(uname -m); the locked packages are for x86_64"
    if find_python; then
        has_venv || missing+=(python3-venv)
        has_headers || missing+=(python3-dev)
    elif command -v python3 >/dev/null; then
        give_up "$(command -v python3) is $(python3 --version); needed are Python $fits: install one beside it, ./iap finds it on PATH"
    else
        missing+=(python3-venv python3-dev)
    fi
    command -v "${CXX:-g++}" >/dev/null || missing+=(g++)
    command -v make >/dev/null || missing+=(make)
    [[ $underlay == wheels ]] || command -v cmake >/dev/null || missing+=(cmake)
    ((${#missing[@]} == 0)) || install_system_packages "${missing[@]}"
    "$python" "$root/tools/has_egl.py" 2>/dev/null || ask_for_egl libegl1 libgl1-mesa-dri
}

has_venv() { "$python" -c 'import ensurepip, venv' 2>/dev/null; }

has_headers() {
    "$python" -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))'
}

# The sourced ROS 2's interpreter, or the first that the wheels are made for; never that of an environment made here.
find_python() {
    local accepted='(3, 11) <= sys.version_info[:2] <= (3, 13)'
    [[ $underlay == wheels ]] || accepted='(3, 11) <= sys.version_info[:2] <= (3, 14)'
    while read -r python; do
        [[ $python != "$root"/.venv* ]] || continue
        "$python" -c "import sys; sys.exit(not $accepted)" 2>/dev/null && return
    done < <(type -ap python3 python3.11 python3.12 python3.13)
    python=
    return 1
}

install_system_packages() {
    command -v apt-get >/dev/null || give_up "not on this machine: $* (Debian's names); install them and call again"
    find_root || give_up "not on this machine: $*; run 'sudo ${apt_install[*]} $*' and call again"
    say "- $* (apt)"
    install_by_apt "$@" || failed "${apt_install[*]} $*" 0
    find_python || give_up "apt's python3 is $(python3 --version); needed are Python $fits"
    { has_venv && has_headers; } || give_up "$python is not the system's and lacks venv or Python.h; add them and call again"
}

# Only cameras need OpenGL, so a machine without it is set up all the same.
ask_for_egl() {
    if command -v apt-get >/dev/null && find_root; then
        say "- $* (apt), for images by OpenGL"
        ! install_by_apt "$@" || return 0
        say "  failed, so cameras have to do with 'renderer: pybullet', on Python 3.11 alone; why is in $log"
    else
        say "- no OpenGL (EGL) on this machine, so cameras have to do with 'renderer: pybullet', on Python 3.11 alone; to change that, install $* (Debian's names)"
    fi
}

# Sets as_root to what makes a command root's, or fails.
find_root() {
    as_root=()
    ((EUID == 0)) && return
    sudo -n true 2>/dev/null || return
    as_root=(sudo -n)
}

install_by_apt() {
    logged "${as_root[@]}" apt-get update || say "  apt-get update failed; trying with the lists there are"
    logged "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive "${apt_install[@]}" "$@"
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
    set -euo pipefail
    root=$(dirname -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")")
    # shellcheck source-path=SCRIPTDIR source=workspace.sh
    . "$root/tools/workspace.sh"
    is_ready "${1:-run}" || set_up "${1:-run}"
fi
