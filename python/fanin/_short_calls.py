# SPDX-License-Identifier: Apache-2.0
"""The calls for tensors of torch on a device, which are imported when the first tensor comes."""


class TorchCalls(dict):
    """The module of these calls for the class of tensors; None for another class."""

    def __missing__(self, kind):
        if kind.__name__ != "Tensor" or kind.__module__ != "torch":
            return None
        from . import _torch_calls
        self[kind] = _torch_calls
        return _torch_calls


torch_calls = TorchCalls()
