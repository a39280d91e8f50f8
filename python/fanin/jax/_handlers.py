# SPDX-License-Identifier: Apache-2.0
"""The functions that XLA calls (handlers.cpp), in a library beside that of the package."""

import ctypes
import os

import jax

from .. import _library as c

PATH = os.path.join(os.path.dirname(os.path.abspath(c.PATH)), "libfanin_jax.so")
if not os.path.exists(PATH):
    raise ImportError("%s is missing: install JAX, and build the wheel again as docs/jax.md says" % PATH)


def register():
    library = ctypes.CDLL(PATH)
    for platform, suffix in (("cpu", ""), ("CUDA", "_on_device")):
        for name in ("reduce", "groups"):
            handler = getattr(library, "fanin_jax_" + name + suffix)
            jax.ffi.register_ffi_target("fanin_" + name, jax.ffi.pycapsule(handler), platform=platform)


register()
