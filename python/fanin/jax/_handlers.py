# SPDX-License-Identifier: Apache-2.0
"""The functions that XLA calls (handlers.cpp), in a library beside that of the package."""

import ctypes
import os

import jax

from .. import _library as c

PATH = os.path.join(os.path.dirname(os.path.abspath(c.PATH)), "libfanin_jax.so")
if not os.path.exists(PATH):
    raise ImportError("%s is missing: install JAX, and build the wheel again as docs/jax.md says" % PATH)
if not hasattr(jax.ffi, "register_ffi_type"):
    raise ImportError("fanin.jax needs JAX 0.8.1 or newer, and this is JAX %s" % jax.__version__)


def register():
    library = ctypes.CDLL(PATH)

    def handler(name):
        return jax.ffi.pycapsule(getattr(library, "fanin_jax_" + name))

    type_id, type_info = map(jax.ffi.pycapsule, (ctypes.c_void_p * 2).in_dll(library, "fanin_jax_call_site_type"))
    jax.ffi.register_ffi_type("fanin_call_site", {"type_id": type_id, "type_info": type_info}, platform="CUDA")
    for name in ("reduce", "groups"):
        jax.ffi.register_ffi_target("fanin_" + name, handler(name), platform="cpu")
        jax.ffi.register_ffi_target("fanin_" + name, {"instantiate": handler("call_site"),
                                                      "execute": handler(name + "_on_device")}, platform="CUDA")


register()
