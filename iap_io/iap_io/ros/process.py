# SPDX-License-Identifier: BSD-3-Clause
"""The process of nodes: its executor, Ctrl-C, exit codes, and what killed processes leave.

It ends with 0 after Ctrl-C and when its work is done, with 2 after bad input.
"""

import fcntl
import gc
import os
import re
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from itertools import takewhile
from pathlib import Path

import rclpy
from rclpy.exceptions import ParameterException
from rclpy.executors import Executor, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from iap_description.errors import BadInput, IapError
from iap_description.process import interrupts
from iap_io.ros.process_end import GRACE, end_within, launch_has_ended

EXIT_DONE, EXIT_FAILED, EXIT_BAD_INPUT = 0, 1, 2
MEMORY_FOLDER = Path("/dev/shm")  # noqa: S108 - the place of POSIX shared memory
LOCK_AGE = 10.0  # a lock is taken long before that, after its file is made [s]
HELP = """\
usage: {name} [--ros-args [-p NAME:=VALUE ...] [--params-file FILE] [-r FROM:=TO ...]]

A node of ROS 2. `ros2 param describe` explains its parameters while it runs.
docs/reference/ros2.md of the suite has its topics.
"""
_LOCK = re.compile(r"(fast(?:rtps|dds)_[0-9a-f]{16})_el")  # of a segment, held by its process


class ProcessNode(Node):
    """A node as a process runs it.

    Attributes:
        exit_code: set to end the process.
    """

    exit_code: int | None = None

    def check_parameters(self) -> None:
        """Look for parameters that were given to the process and that nobody has declared.

        Raises:
            BadInput: there is one.
        """

    def soon(self, work: Callable[[], None]) -> None:
        """Let the executor do some work after what it does now; an error in it ends the process, and is logged.

        Out of a task of its own it would end rclpy's events executor by a segmentation fault, without a word.
        """

        def guarded() -> None:
            try:
                work()
            except Exception as error:  # sensors and estimators of anybody's own raise anything
                is_expected = isinstance(error, IapError)
                self.get_logger().fatal(str(error) if is_expected else traceback.format_exc())
                self.exit_code = EXIT_FAILED

        self.executor.create_task(guarded)

    def close(self) -> None:
        """End the work; called once, also after Ctrl-C."""


def make_executor(context: rclpy.Context | None = None) -> Executor:
    """The events executor where rclpy has it (twice as fast as the other), else the single-threaded one."""
    try:
        from rclpy.experimental import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor(context=context)
    return EventsExecutor(context=context)


def run(
    name: str,
    make: Callable[[], Iterable[ProcessNode]],
    arguments: Sequence[str] | None = None,
) -> int:
    """Run nodes in one process on one executor until Ctrl-C, or until one of them sets its exit code.

    Args:
        name: of the process, for errors.
        make: makes the nodes.
        arguments: of the process; None takes the command line's.

    Returns:
        The exit code of the process.
    """
    answered = _answer(name, sys.argv[1:]) if arguments is None else None
    if answered is not None:
        return answered
    code = EXIT_FAILED
    with ExitStack() as middleware:  # ends what the process has of it, while Python is whole
        middleware.callback(rclpy.try_shutdown)
        try:
            code = _work(name, make, arguments, middleware)
        finally:
            interrupts.end_by_exit_code()  # the terminal and launch both send SIGINT
            end_within(GRACE, name, code)
    return code


def program(name: str, node: Callable[[], ProcessNode]) -> Callable[[], int]:
    """The main function of an executable with one node, see `run`."""
    return lambda: run(name, lambda: [node()])


def _answer(name: str, words: Sequence[str]) -> int | None:
    """The exit code of a process with words besides --ros-args, of which a node has none; None without any."""
    arguments = list(takewhile(lambda word: word != "--ros-args", words))
    if {"-h", "--help"} & {*arguments}:
        sys.stdout.write(HELP.format(name=name))
        return EXIT_DONE
    if arguments:
        sys.stderr.write(
            f"{name}: {arguments[0]}: parameters follow --ros-args, as -p NAME:=VALUE\n"
        )
        return EXIT_BAD_INPUT
    return None


def _work(
    name: str,
    make: Callable[[], Iterable[ProcessNode]],
    arguments: Sequence[str] | None,
    middleware: ExitStack,
) -> int:
    """The exit code of nodes that do their work; `middleware` receives what must be destroyed."""
    nodes: list[ProcessNode] = []
    asked_to_end = _Interrupts()
    try:
        _init(arguments)
        for node in make():
            nodes.append(node)
            middleware.callback(node.destroy_node)
        for node in nodes:
            node.check_parameters()
        for node in nodes:
            node.get_logger().info("ready")
        asked_to_end.may_raise = False
        executor = make_executor()
        middleware.callback(executor.shutdown)
        _spin(executor, nodes, asked_to_end)
        for node in nodes:
            node.close()
    except (BadInput, ParameterException) as error:
        sys.stderr.write(f"{name}: {' '.join(str(error).split())}\n")
        return EXIT_BAD_INPUT
    except IapError as error:
        sys.stderr.write(f"{name}: {error}\n")
        return EXIT_FAILED
    except KeyboardInterrupt:  # before there was a node that could end its work
        return EXIT_DONE
    return next((node.exit_code for node in nodes if node.exit_code is not None), EXIT_DONE)


class _Interrupts:
    """Lets Ctrl-C and SIGTERM end a process once: at once while nodes are made, then between two callbacks.

    It stays until the process ends: the events executor calls Python where it is destroyed, and an
    interrupt there, such as the second of a terminal and of launch, would abort the process.

    Attributes:
        came: whether one came.
        may_raise: whether the first raises KeyboardInterrupt where it comes.
    """

    def __init__(self) -> None:
        self.came, self.may_raise = False, True
        sys.unraisablehook = interrupts.pass_over_interrupts  # `came` knows of them
        interrupts.install(self._take)

    def _take(self, *_: object) -> None:
        is_first, self.came = not self.came, True
        if is_first and self.may_raise:
            raise KeyboardInterrupt


def _init(arguments: Sequence[str] | None) -> None:
    remove_unused()
    try:
        rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    except RuntimeError as error:  # rclpy's own, for arguments and files that it cannot read
        raise BadInput(f"--ros-args: {error}") from error


def _spin(executor: Executor, nodes: Sequence[ProcessNode], asked_to_end: _Interrupts) -> None:
    for node in nodes:
        executor.add_node(node)
    gc.collect()
    gc.freeze()  # a collection of all that was imported takes longer than a control period
    while not asked_to_end.came and all(node.exit_code is None for node in nodes):
        if launch_has_ended():
            nodes[0].get_logger().error("the launch that started this has ended; ends, too")
            break
        # With a time-out because the events executor of rclpy 9 never wakes up without one.
        executor.spin_once(timeout_sec=0.2)


def remove_unused(folder: Path = MEMORY_FOLDER, young: float = LOCK_AGE) -> int:
    """Remove shared memory of Fast DDS whose process was killed; returns the number of segments.

    A process that ends removes its own. One that is killed leaves 5 MB by the profile of tools/fastdds.xml, so that a
    dozen fill the 64 MB of a container. Later processes then send by UDP, where large images are lost.

    Args:
        folder: of the segments.
        young: age of a lock's file from which on it counts [s].
    """
    count = 0
    try:
        names = os.listdir(folder)
    except OSError:  # a machine without shared memory has nothing to remove
        return 0
    for match in filter(None, map(_LOCK.fullmatch, names)):
        lock, segment = folder / match[0], folder / match[1]
        with suppress(OSError):  # another process is quicker, it is in use, or somebody else's
            if time.time() - lock.stat().st_mtime < young:
                continue
            with lock.open("ab") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                segment.unlink()
                lock.unlink()
            count += 1
    return count
