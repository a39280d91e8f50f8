# SPDX-License-Identifier: Apache-2.0
"""Calls of the C interface by the module _calls, in which all but addresses and counts is looked up once.

Without this module there are no short calls, and the long calls, by ctypes, take their place.
"""

from ctypes import addressof, c_void_p, cast
from sys import version_info

from . import _library as c
from ._types import ALIGNMENTS, LONG, SIZES

try:
    if version_info < (3, 11):
        raise ImportError("the module has the stable interface of Python 3.11")
    from . import _calls
except ImportError:  # this interpreter has another interface, or the package was built without the headers of Python
    reduce_buffer = None
else:
    reduce_buffer = _calls.reduce_buffer
    _calls.use(*(cast(c.lib["fanin_" + name], c_void_p).value
                 for name in ("reduce", "reduce_batch", "context_enqueue", "context_enqueue_batch",
                              "context_enqueue_add_to")))


def call_of(what, given, options, context=None, batch=None, output=None, adds=False):
    """The function run(x, results, count, y, index, index_count, result_count) of addresses and counts.

    The last ones may be left out. With a context the call is enqueued. With `adds` it adds to the results that are there.
    Any number of threads may run it.
    """
    handle, lock = (0, None) if context is None else (context.handle.value, context.lock)
    options = options._obj
    return _calls.Call(what, handle, lock, addressof(given), addressof(options),
                       0 if batch is None else addressof(batch), 0 if output is None else addressof(output), adds,
                       (options, batch, context)).run


def call_of_buffers(what, code, options, letter, item, scalars):
    """The call for contiguous buffers of less than LONG bytes.

    The value of a result is its number `item` of the format `letter`. With `scalars`, an array of numpy of at least 16
    bytes, the value is a scalar of numpy.
    """
    options = options._obj
    return _calls.BufferCall(what, code, SIZES[code].bit_length() - 1, LONG, ALIGNMENTS[code] - 1, addressof(options),
                             letter, item, scalars, options)
