// SPDX-License-Identifier: Apache-2.0
// The messages that ranks send, and the value that a transport makes of the messages.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <fanin/short_lanes.hpp>

#include "tests/support/hard_inputs.hpp"

namespace fanin::test {

/// The lanes of one rank.
struct rank_message {
  bool is_short;                  ///< whether `few` stands for all lanes
  std::vector<std::int64_t> few;  ///< the short lanes
  std::vector<std::int64_t> all;  ///< all lanes
};

inline rank_message message_of_rank(operation what, const input_views& x, const options& chosen = {}) {
  const lane_format format = lanes_of(what, x.type());
  rank_message one{false, std::vector<std::int64_t>(detail::short_lane_count(format)),
                   std::vector<std::int64_t>(format.count)};
  report done;
  one.is_short = detail::to_short_lanes(what, x, one.few, one.all, chosen, done);
  CHECK(done.reproducibility == reproducibility::exact);
  if (one.is_short) detail::expand_lanes(format, one.few, one.all);
  return one;
}

/// How lanes travel. They are sent in short messages, or expanded as if another rank could not send a short
/// message, or all are sent from the start.
enum class transport { few_lanes, expanded_lanes, all_lanes };
inline constexpr transport transports[] = {transport::few_lanes, transport::expanded_lanes, transport::all_lanes};

/// Whether the lanes of the operation may travel so.
inline bool is_served(operation what, element_type type, transport how) {
  return how == transport::all_lanes || detail::short_lane_count(lanes_of(what, type)) > 0;
}

/// The value of all ranks' elements, as value_or_error() has it.
inline std::string value_of_ranks(operation what, std::span<const input_views> ranks, transport how) {
  const element_type type = ranks[0].type();
  const lane_format format = lanes_of(what, type);
  std::vector<rank_message> sent;
  for (const input_views& own : ranks) {
    if (how != transport::all_lanes) {
      sent.push_back(message_of_rank(what, own));
    } else {
      sent.push_back({false, {}, std::vector<std::int64_t>(format.count)});
      to_lanes(what, own, sent.back().all);
    }
  }
  const bool all_short = how == transport::few_lanes && std::ranges::all_of(sent, &rank_message::is_short);
  const auto lanes_sent = [&](rank_message& one) -> std::vector<std::int64_t>& {
    return all_short ? one.few : one.all;
  };
  std::vector<std::int64_t>& merged = lanes_sent(sent[0]);
  for (rank_message& next : std::span(sent).subspan(1)) {
    std::ranges::transform(merged, lanes_sent(next), merged.begin(), [&](std::int64_t a, std::int64_t b) {
      return format.merge == lane_merge::sum ? a + b : std::max(a, b);
    });
  }
  return value_or_error(what, type, [&](const result_view& value) {
    all_short ? detail::from_short_lanes(what, type, merged, value) : from_lanes(what, type, merged, value);
  });
}

}  // namespace fanin::test
