// SPDX-License-Identifier: Apache-2.0
#include "cli/report/labels.hpp"

#include <algorithm>

namespace fanin::cli::charts {

namespace {

constexpr double marker_half = 6;

bool overlap(const rectangle& a, const rectangle& b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

}  // namespace

void point_labels::add(const series::point& at, const std::string& words) {
  all_.push_back({at, words});
  taken_.push_back({at.x - marker_half, at.y - marker_half, at.x + marker_half, at.y + marker_half});
}

void point_labels::avoid(const series::point& from, const series::point& to) {
  taken_.push_back({std::min(from.x, to.x) - 1, std::min(from.y, to.y) - 1, std::max(from.x, to.x) + 1,
                    std::max(from.y, to.y) + 1});
}

bool point_labels::is_free(const rectangle& place) const {
  const bool inside = place.left >= plot_.left && place.right <= plot_.right && place.top >= plot_.top &&
                      place.bottom <= plot_.bottom;
  return inside && std::ranges::none_of(taken_, [&](const rectangle& one) { return overlap(one, place); });
}

void point_labels::draw() {
  constexpr double gap = marker_half + 2, height = font_size + 2;
  for (const auto& [at, words] : all_) {
    const double width = text_width(words), middle = at.x - width / 2;
    const series::point corners[] = {
        {at.x + gap, at.y - height / 2},         {at.x - gap - width, at.y - height / 2},
        {middle, at.y - gap - height},           {middle, at.y + gap},
        {at.x - width, at.y - gap - height},     {at.x, at.y - gap - height},
        {at.x - width, at.y - gap - 2 * height}, {at.x, at.y - gap - 2 * height},
        {at.x - width, at.y - gap - 3 * height}, {at.x - width, at.y - gap - 4 * height}};
    for (const auto& [left, top] : corners) {
      const rectangle place{left, top, left + width, top + height};
      if (!is_free(place)) continue;
      target_.text(left, top + font_size - 1, words, align::start, "label");
      taken_.push_back(place);
      break;
    }
  }
}

}  // namespace fanin::cli::charts
