# SPDX-License-Identifier: Apache-2.0
"""Statuses of the C interface as exceptions: each is a fanin.Error and the built-in exception of its kind."""


class Error(Exception):
    """The base of all exceptions of fanin."""


class InvalidArgument(Error, ValueError):
    """An argument has no meaning: the min of nothing, an axis that does not exist, an unknown name."""


class Unsupported(Error, TypeError):
    """Valid arguments whose combination does not exist, or an input that cannot be read where it lies."""


class BackendUnavailable(Error, RuntimeError):
    """The named backend cannot run on this machine."""


class Overflow(Error, OverflowError):
    """An integer result does not fit into its type."""


class OutOfMemory(Error, MemoryError):
    """Memory of the host or of a device ran out."""


class DeviceError(Error, RuntimeError):
    """A call of the CUDA runtime failed."""


def shown(value):
    """The caller's value in a message: by its type where Python shows only what and where it is."""
    text = repr(value)
    return "a value of type " + type(value).__name__ if text.startswith("<") or " at 0x" in text else text


def a(name):
    """The name with its article, for messages."""
    return ("an " if name[0] in "aeioAEIO" else "a ") + name


BY_STATUS = {1: InvalidArgument, 2: Unsupported, 3: BackendUnavailable, 4: Overflow, 5: OutOfMemory, 6: DeviceError}
