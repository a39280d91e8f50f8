// SPDX-License-Identifier: Apache-2.0
// The lanes of one reduction in a short message, for transports whose latency grows with the size of messages. Sums
// of many words send only their short words (lane_format::short_words), and other reductions send all lanes.
// fanin/mpi.hpp sends the message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <fanin/lanes.hpp>

namespace fanin::detail {

/// The largest number of short lanes of any reduction.
inline constexpr std::size_t most_short_lanes = 29;

/// How many short lanes a reduction has, or 0 if it has too many lanes for a short message.
inline std::size_t short_lane_count(const lane_format& format) {
  const std::size_t count = format.count - format.words + format.short_words;
  return count <= most_short_lanes ? count : 0;
}

/// Reduces like to_lanes(), and writes the short lanes to `few`: first the short words, then all lanes that are no
/// words. Returns false if another word is not 0. In this case `all` has all lanes; otherwise it is unspecified.
FANIN_API bool to_short_lanes(operation what, const input_views& inputs, std::span<std::int64_t> few,
                              std::span<std::int64_t> all, const options& chosen, report& done);

/// Writes to `all` the lanes that `few` stands for.
FANIN_API void expand_lanes(const lane_format& format, std::span<const std::int64_t> few,
                            std::span<std::int64_t> all);

/// Writes the value of short lanes that were merged, like from_lanes().
FANIN_API void from_short_lanes(operation what, element_type type, std::span<const std::int64_t> merged,
                                const result_view& value);

}  // namespace fanin::detail
