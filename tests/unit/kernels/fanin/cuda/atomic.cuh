// SPDX-License-Identifier: Apache-2.0
// Replaces the header of this name, whose functions are instructions of a device.
#pragma once

#include <atomic>

namespace fanin::device_code {

inline bool count_up_to(unsigned* counter, unsigned last) { return std::atomic_ref(*counter).fetch_add(1) == last; }

template <class Word>
Word load_relaxed(const Word* word) {
  return std::atomic_ref(*const_cast<Word*>(word)).load();
}

inline void store_relaxed(unsigned* word, unsigned value) { std::atomic_ref(*word).store(value); }

}  // namespace fanin::device_code
