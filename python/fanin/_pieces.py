# SPDX-License-Identifier: Apache-2.0
"""Long inputs of host memory in pieces, with the bits of one call: between two pieces Python handles signals."""

import ctypes
from ctypes import byref
from math import prod

from . import _library as c
from ._errors import Error
from ._types import CTYPE_OF, LONG, SIZES
from ._views import in_c_order

PIECE = 1 << 28
SIDE_BY_SIDE = 1 << 12  # bytes, at least, of columns that are cut


def pieces_of(call):
    """The elements of one array, a part after the other."""
    length = PIECE // SIZES[call.type]
    for first in range(0, call.count, length):
        yield part_of(call, first, min(length, call.count - first), first)


def part_of(call, offset, count, before):
    """`count` elements from an offset on. `before` elements come before them in C order."""
    offset *= SIZES[call.type]
    return c.Input(x=call.x + offset, y=call.y and call.y + offset, count=count, type=call.type, place=call.place,
                   mask=call.mask, mask_first=call.mask_first + before, mask_form=call.mask_form)


def reduce_in_pieces(what, call, options, address, report):
    """The result of one array."""
    stream = ctypes.c_void_p()
    c.check(c.incremental_create(what, call.type, options, byref(stream)))
    try:
        for piece in pieces_of(call):
            c.check(c.incremental_push(stream, piece))
        c.check(c.incremental_finish(stream, address, report))
    finally:
        c.incremental_destroy(stream)


def reduce_batch(what, call, batch, options, output, size, report):
    """The results of rows, segments or groups, each of `size` bytes. Groups, and reports, are not cut."""
    cut = {c.ROWS: rows_of, c.SEGMENTS: segments_of}.get(batch.layout)
    if cut is None or report is not None or call.count * SIZES[call.type] < LONG:
        c.check(c.reduce_batch(what, call, batch, options, output, report))
        return
    first = 0
    for piece, part, count in cut(call, batch):
        address = output.data + first * size
        try:
            if part is None:
                reduce_in_pieces(what, piece, options, address, None)
            else:
                c.check(c.reduce_batch(what, piece, part, options, c.Output(data=address, count=count, place=c.HOST),
                                       None))
        except Error as error:
            raise type(error)(counted_on(str(error), first)) from None
        first += count


def counted_on(words, first):
    """An error about a piece, whose first result has a number, with the number that the result has in the whole."""
    import re  # only here: the import takes milliseconds
    return re.sub(r"^(result|segment) (\d+)", lambda found: "%s %d" % (found[1], first + int(found[2])), words)


def rows_of(call, batch):
    """Whole rows as (input, batch or None for one long array, number of results), in the order of the results."""
    whole = batch.shape[:batch.axis_count]
    strides = batch.strides[:batch.axis_count] if batch.strides else [prod(whole[i + 1:]) for i in range(len(whole))]
    along = batch.along[:batch.along_count]
    size, row = SIZES[call.type], prod(whole[i] for i in along)

    def cut(call, shape, kept):
        """Cuts an input of that shape along the first of the axes that it keeps."""
        axis = kept[0] if kept else None
        if call.count * size <= PIECE or axis is None or call.mask and prod(shape[:axis]) > 1:
            # A cut behind another axis would leave gaps in the mask.
            in_order = in_c_order(shape, strides)
            if call.count == row and in_order and row * size >= LONG:
                yield call, None, 1
                return
            part = c.Batch.from_buffer_copy(batch)
            part.shape = (ctypes.c_uint64 * len(shape))(*shape)
            part.strides = None if in_order else (ctypes.c_int64 * len(shape))(*strides)
            yield call, part, call.count // row
            return
        each = call.count // shape[axis]
        step = max(1, PIECE // (each * size), SIDE_BY_SIDE // max(1, abs(strides[axis]) * size))
        for first in range(0, shape[axis], step):
            length = min(step, shape[axis] - first)
            piece = part_of(call, first * strides[axis], length * each, first * each)
            # Further cuts are in the order of the results within one index of this axis only.
            yield from cut(piece, shape[:axis] + [length] + shape[axis + 1:], kept[1:] if length == 1 else [])
    yield from cut(call, whole, [i for i in range(len(whole)) if i not in along and whole[i] > 1])


def segments_of(call, batch):
    """Whole segments as (input, batch or None for one long segment, number of results), in the order of the results."""
    from bisect import bisect_right
    offsets = (CTYPE_OF[batch.index_type] * batch.index_count).from_address(batch.index)
    size, first, last = SIZES[call.type], 0, batch.index_count - 1
    while first < last:
        end = max(first + 1, bisect_right(offsets, offsets[first] + PIECE // size, first + 1, last + 1) - 1)
        begin, length = offsets[first], offsets[end] - offsets[first]
        if end == first + 1 and length * size >= LONG and 0 <= begin and begin + length <= call.count:
            yield part_of(call, begin, length, begin), None, 1
        else:
            part = c.Batch.from_buffer_copy(batch)
            part.index += first * SIZES[batch.index_type]
            part.index_count = end - first + 1
            yield call, part, end - first
        first = end
