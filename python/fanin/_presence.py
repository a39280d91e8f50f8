# SPDX-License-Identifier: Apache-2.0
"""Which elements of an array take part: a byte or a bit for each element, as the C interface reads masks."""

from array import array
from ctypes import string_at

BYTES, BITS = 0, 1
_BYTES_OF_BITS = [bytes(value >> i & 1 for i in range(8)) for value in range(256)]
_TO_TRUTH = bytes([0]) + bytes([1]) * 255


class Presence:
    """Elements take part if their byte is not 0, or their bit is 1. `first` is the place of element 0 in the mask."""

    __slots__ = ("address", "count", "form", "first", "kept")

    def __init__(self, address, count, form=BYTES, first=0, kept=None):
        self.address, self.count, self.form, self.first, self.kept = address, count, form, first, kept

    @property
    def extent(self):
        """The addresses of the first byte, and behind the last one, between which the mask is."""
        each = 8 if self.form == BITS else 1
        return self.address + self.first // each, self.address + -(-(self.first + self.count) // each)

    def as_bytes(self):
        """A byte 0 or 1 for each element."""
        if self.form == BITS:
            return unpacked(self.address, self.first, self.count)
        return string_at(self.address + self.first, self.count).translate(_TO_TRUTH)


def of_bytes(data):
    """The presence that a byte for each element says."""
    kept = array("B", data)
    return Presence(kept.buffer_info()[0], len(kept), kept=kept)


def unpacked(address, first, count):
    """A byte 0 or 1 for each of `count` bits in memory, from the bit `first` on; bit 0 is the lowest of a byte."""
    begin, skipped = divmod(first, 8)
    data = string_at(address + begin, (skipped + count + 7) // 8)
    return b"".join(map(_BYTES_OF_BITS.__getitem__, data))[skipped:skipped + count]


def combined(parts):
    """The presence of elements that are present in every one of the parts; None if there are no parts."""
    if len(parts) < 2:
        return parts[0] if parts else None
    both = int.from_bytes(parts[0].as_bytes(), "little")
    for part in parts[1:]:
        both &= int.from_bytes(part.as_bytes(), "little")
    return of_bytes(both.to_bytes(parts[0].count, "little"))
