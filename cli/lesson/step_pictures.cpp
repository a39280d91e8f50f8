// SPDX-License-Identifier: Apache-2.0
// The picture of a step has the numbers that its additions read above, and those that they write below. Between them
// a circle with the thread's number is what a thread adds. Rows of numbers that no addition connects stand apart, as
// blocks do that do not meet in the step. At the lower end are all threads, filled where they work.
#include "cli/lesson/step_pictures.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "cli/report/charts.hpp"
#include "cli/report/svg.hpp"

namespace fanin::cli {

namespace {

constexpr unsigned cell_width = 24, cell_height = 20, cells_in_a_row = 16, margin = 2;
constexpr unsigned label_height = 16, row_gap = 5, node_gap = 64, group_gap = 16, radius = 9, below_node = 25;
constexpr unsigned thread_size = 10, warp_gap = 4, block_gap = 10;
constexpr unsigned picture_width = cells_in_a_row * cell_width + 2 * margin;

using numbers = trace_memory<std::int64_t>;

/// Rows of the array that a step reads and rows of the array that it writes, which its additions connect.
struct connected_rows {
  std::set<unsigned> read, written;
  std::vector<addition> additions;
};

class step_drawing {
 public:
  step_drawing(const trace& all, const trace_step& step, const numbers& before, const numbers& after)
      : all_(all), step_(step), before_(before), after_(after), row_(row_length(all)) {
    for (const addition& one : step.additions) {
      written_.emplace(one.into, one.thread);
      read_.emplace(one.from, one.thread);
      if (!one.fresh) read_.emplace(one.into, one.thread);
    }
    const unsigned side_by_side = cells_in_a_row / row_;
    unsigned top = 0, at = 0;
    for (const connected_rows& group : groups()) {
      if (at == side_by_side) top = height_ + group_gap, at = 0;
      draw(group, margin + at++ * row_ * cell_width, top);
    }
    draw_threads(height_ + group_gap);
  }

  std::string svg(const std::string& title, const std::string& description) const {
    return fmt::format(
        "<svg viewBox=\"0 0 {} {}\" role=\"img\" class=\"step\"><title>{}</title><desc>{}</desc>\n{}{}</svg>\n",
        picture_width, height_ + margin, charts::escaped(title), charts::escaped(description), lines_, nodes_);
  }

 private:
  /// A row has as many numbers as a block has threads, so that the elements of a thread stand below each other. Where
  /// a thread takes elements from all over the input, a row is as long as it can be.
  static unsigned row_length(const trace& all) {
    return all.stage->has_resident_blocks() ? cells_in_a_row : std::min(cells_in_a_row, all.shape.block_size);
  }
  unsigned row_of(const place& p) const { return p.index / row_; }
  bool same_array() const { return step_.additions.front().from.array == step_.additions.front().into.array; }
  std::string colour_of(unsigned thread) const {
    return fmt::format("w{}", thread / all_.shape.warp_size % warp_colours);
  }

  std::vector<connected_rows> groups() const {
    std::vector<connected_rows> all;
    for (const addition& one : step_.additions) {
      connected_rows joined{{row_of(one.from)}, {row_of(one.into)}, {one}};
      if (!one.fresh && same_array()) joined.read.insert(row_of(one.into));
      std::erase_if(all, [&](connected_rows& group) {
        const auto meets = [](const std::set<unsigned>& a, const std::set<unsigned>& b) {
          return std::ranges::any_of(a, [&](unsigned row) { return b.contains(row); });
        };
        if (!meets(group.read, joined.read) && !meets(group.written, joined.written)) return false;
        joined.read.merge(group.read);
        joined.written.merge(group.written);
        joined.additions.insert(joined.additions.begin(), group.additions.begin(), group.additions.end());
        return true;
      });
      all.push_back(std::move(joined));
    }
    return all;
  }

  void draw(const connected_rows& group, unsigned left, unsigned top) {
    const place from = group.additions.front().from, into = group.additions.front().into;
    const auto center = [&](const place& p) { return left + p.index % row_ * cell_width + cell_width / 2; };
    std::map<unsigned, unsigned> top_of;  // The top of each row that is read.
    unsigned y = top + label_height;
    write_label(left, y, from.array, same_array() ? "before" : "");
    for (const unsigned row : group.read) {
      top_of[row] = y;
      draw_row(before_, {from.array, row * row_}, left, y, false);
      y += cell_height + row_gap;
    }
    const unsigned below = y + node_gap, node_y = below - below_node;
    std::map<std::pair<place, unsigned>, unsigned> nodes;  // The x of a place's and a thread's circle.
    std::map<place, unsigned> threads;                     // How many threads have a circle above the place.
    for (const addition& one : group.additions) {
      const std::string colour = colour_of(one.thread);
      const auto [node, is_new] = nodes.try_emplace({one.into, one.thread}, 0);
      if (is_new) {
        node->second = center(one.into) + threads[one.into]++ * (2 * radius + 4);
        line(node->second, node_y, center(one.into), below, colour);
        if (!one.fresh && same_array()) {
          line(center(one.into), top_of[row_of(one.into)] + cell_height, node->second, node_y, colour + " own");
        }
        nodes_ +=
            fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" class=\"{}\"/>", node->second, node_y, radius, colour);
        write(node->second, node_y + 4, "on", std::to_string(one.thread % step_.threads));
      }
      line(center(one.from), top_of[row_of(one.from)] + cell_height, node->second, node_y, colour);
    }
    y = below;
    for (const unsigned row : group.written) {
      draw_row(after_, {into.array, row * row_}, left, y, true);
      y += cell_height + row_gap;
    }
    write_label(left, y + label_height - row_gap, into.array, same_array() ? "after" : "");
    height_ = std::max(height_, y + label_height - row_gap);
  }

  void draw_row(const numbers& memory, place first, unsigned left, unsigned y, bool written) {
    for (place p = first; p.index < first.index + row_ && p.index < places_of(all_, p.array); ++p.index) {
      const std::map<place, unsigned>& threads = written ? written_ : read_;
      const auto thread = threads.find(p);
      const std::string_view look = thread == threads.end() ? "rest" : written ? "on" : "read";
      const std::string colour = thread == threads.end() ? "" : " " + colour_of(thread->second);
      const unsigned x = left + (p.index - first.index) * cell_width;
      nodes_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"{}{}\"/>", x, y, cell_width,
                            cell_height, look, colour);
      write(x + cell_width / 2, y + 14, look, std::to_string(memory.at(p)));
    }
  }

  void draw_threads(unsigned top) {
    const std::set<unsigned> working = working_threads(step_);
    const unsigned all = step_.threads * step_.blocks;
    for (unsigned thread = 0; thread < all; ++thread) {
      const unsigned block = thread / step_.threads;
      const unsigned x = margin + thread * thread_size + thread / all_.shape.warp_size * warp_gap + block * block_gap;
      if (thread % step_.threads == 0)
        nodes_ +=
            fmt::format("<text x=\"{}\" y=\"{}\" class=\"label\">block {}</text>", x, top + label_height - 4, block);
      nodes_ +=
          fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"14\" class=\"{}\"/>", x, top + label_height,
                      thread_size - 1, working.contains(thread) ? "on " + colour_of(thread) : "rest");
    }
    height_ = top + label_height + 14;
  }

  void write(unsigned x, unsigned y, std::string_view look, const std::string& text) {
    nodes_ += fmt::format("<text x=\"{}\" y=\"{}\" class=\"{}{}\">{}</text>\n", x, y, look,
                          text.size() > 3 ? " long" : "", text);
  }
  void write_label(unsigned x, unsigned y, space array, std::string_view when) {
    nodes_ += fmt::format("<text x=\"{}\" y=\"{}\" class=\"label\">{} {}</text>\n", x, y - 4, to_string(array), when);
  }
  void line(unsigned x1, unsigned y1, unsigned x2, unsigned y2, std::string_view look) {
    lines_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" class=\"{}\"/>\n", x1, y1, x2, y2, look);
  }

  const trace& all_;
  const trace_step& step_;
  const numbers &before_, &after_;
  unsigned row_, height_ = 0;
  std::map<place, unsigned> read_, written_;  ///< the places, and the threads that read and write them
  std::string lines_, nodes_;
};

std::string notes_of(const trace_step& step, unsigned warp_size) {
  std::string notes = count_of_threads(step, warp_size) + ".";
  const std::string banks = banks_read(step, warp_size);
  if (!banks.empty()) notes += fmt::format(" {}.", charts::capitalised(banks));
  if (!step.then.empty()) notes += fmt::format(" Then {}.", step.then);
  return notes;
}

}  // namespace

std::vector<step_picture> step_pictures(const trace& all) {
  std::vector<step_picture> pictures;
  numbers memory = numbered_memory(all);
  for (const trace_step& step : all.steps) {
    const numbers before = memory;
    std::string additions;
    memory.run(step, [&](const addition& one, std::int64_t into, std::int64_t from, std::int64_t after) {
      additions +=
          fmt::format("{}thread {}: {}", additions.empty() ? "" : "; ", one.thread, text_of(one, into, from, after));
    });
    const std::string title = fmt::format("{}, {}", step.what, to_string(step.where));
    pictures.push_back(
        {title, notes_of(step, all.shape.warp_size), step_drawing(all, step, before, memory).svg(title, additions)});
  }
  return pictures;
}

}  // namespace fanin::cli
