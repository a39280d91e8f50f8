# SPDX-License-Identifier: Apache-2.0
"""The short calls for tensors of torch on a device, which are imported when the first tensor comes."""

from ._direct_calls import reduce_buffer


class TorchCalls(dict):
    """The module of calls for tensors of torch on a device for their class; None for another class."""

    def __missing__(self, kind):
        if reduce_buffer is None or kind.__name__ != "Tensor" or kind.__module__ != "torch":
            return None
        from . import _torch_calls
        self[kind] = _torch_calls
        return _torch_calls


torch_calls = TorchCalls()
