// SPDX-License-Identifier: Apache-2.0
#include "measure/rotation.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include <fanin/error.hpp>

namespace fanin::measure {

namespace {

constexpr std::size_t page_bytes = 4096;

std::size_t system_value(int name, std::size_t otherwise) {
  const long value = ::sysconf(name);
  return value > 0 ? static_cast<std::size_t>(value) : otherwise;
}

std::size_t largest_cache_bytes() {
  constexpr std::size_t unless_known = std::size_t{1} << 26;
  return std::max(system_value(_SC_LEVEL2_CACHE_SIZE, 0), system_value(_SC_LEVEL3_CACHE_SIZE, unless_known));
}

/// The distance between copies, in whole pages. It is no power of two for an array of 2^k bytes, so that the copies
/// do not begin in the same cache sets.
std::size_t stride_of(const array_view& x) { return (x.bytes() / page_bytes + 1) * page_bytes; }

}  // namespace

rotation::rotation(const array_view& x, std::size_t places)
    : first_(x), places_(places), stride_bytes_(stride_of(x)) {
  memory_.reset(static_cast<std::byte*>(std::aligned_alloc(page_bytes, places * stride_bytes_)));
  if (memory_ == nullptr) throw out_of_memory("no memory for copies of the input");
  for (std::size_t i = 0; x.count > 0 && i < places; ++i) {
    std::memcpy(memory_.get() + i * stride_bytes_, x.data, x.bytes());
  }
  first_.data = memory_.get();
}

rotation rotation::warm(const array_view& x) { return {x, 1}; }

rotation rotation::past_caches(const array_view& x) {
  const std::size_t memory_bytes = system_value(_SC_PHYS_PAGES, 0) * system_value(_SC_PAGESIZE, page_bytes);
  const std::size_t places = std::max<std::size_t>(2, 2 * largest_cache_bytes() / stride_of(x) + 1);
  return {x, places * stride_of(x) <= memory_bytes / 4 ? places : 1};
}

array_view rotation::at(std::size_t i) const noexcept {
  array_view view = first_;
  view.data = static_cast<const std::byte*>(first_.data) + i % places_ * stride_bytes_;
  return view;
}

}  // namespace fanin::measure
