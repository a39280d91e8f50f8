// SPDX-License-Identifier: Apache-2.0
// A trace as a picture. Columns are elements and rows are steps. A circle with the thread's number is an addition.
// Beside each row stand the warps, in which the threads that work are filled.
#include <map>
#include <set>

#include <fmt/format.h>

#include "cli/lesson/trace.hpp"

namespace fanin::cli {

namespace {

constexpr unsigned column_width = 22, row_height = 46, left = 170, top = 52, thread_width = 7;
constexpr std::string_view colors[] = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd",
                                       "#ff7f0e", "#17becf", "#8c564b", "#e377c2"};

class drawing {
 public:
  explicit drawing(const trace& all) : all_(all) {
    for (unsigned i = 0; i < all.shape.count; ++i) {
      const place element{space::input, i};
      row_of_[element] = 0;
      column_of_[element] = i;
      nodes_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"18\" height=\"16\" fill=\"#eee\" stroke=\"#999\"/>\n",
                            x(element) - 9, y(0) - 8);
      write(x(element), y(0) + 3, "middle", std::to_string(i));
    }
    write(left - 20, y(0) + 3, "end", "elements");
    for (unsigned row = 1; row <= all.steps.size(); ++row) draw(all.steps[row - 1], row);
  }

  std::string text() const {
    unsigned widest = 0;
    for (const trace_step& step : all_.steps) widest = std::max(widest, warps_width(step));
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" "
        "font-size=\"10\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
        "<text x=\"{}\" y=\"18\" font-size=\"13\" font-weight=\"bold\">{}</text>\n{}{}</svg>\n",
        warps_left() + widest + 20, y(static_cast<unsigned>(all_.steps.size())) + 36, left - 9, all_.stage->name,
        lines_, nodes_);
  }

 private:
  static unsigned y(unsigned row) { return top + row * row_height; }
  unsigned warps_left() const { return left + all_.shape.count * column_width + 16; }
  unsigned warps_width(const trace_step& step) const {
    const unsigned threads = step.threads * step.blocks;
    return threads * thread_width + threads / all_.shape.warp_size * 4 + step.blocks * 6;
  }

  unsigned x(const place& p) const { return left + column_of_.at(p) * column_width; }

  void write(unsigned x, unsigned y, std::string_view anchor, std::string_view text) {
    nodes_ += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, text);
  }
  void connect(const place& from, const place& to, unsigned row, std::string_view color) {
    lines_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{}\"/>\n", x(from),
                          y(row_of_.at(from)), x(to), y(row), color);
  }
  std::string_view color_of(const addition& one) const {
    return colors[one.thread / all_.shape.warp_size % std::size(colors)];
  }

  void draw(const trace_step& step, unsigned row) {
    std::set<place> drawn;
    for (const addition& one : step.additions) {
      column_of_.emplace(one.into, column_of_.at(one.from));  // A sum is drawn in the column of its first operand.
      connect(one.from, one.into, row, color_of(one));
      if (!drawn.insert(one.into).second) continue;
      if (!one.fresh && row_of_.contains(one.into)) connect(one.into, one.into, row, "#bbb");
      nodes_ +=
          fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"9\" fill=\"{}\"/>\n", x(one.into), y(row), color_of(one));
      nodes_ += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"#fff\">{}</text>\n", x(one.into),
                            y(row) + 3, one.thread % step.threads);
    }
    for (const place& one : drawn) row_of_[one] = row;
    write_labels(step, row);
    draw_warps(step, row);
  }

  void write_labels(const trace_step& step, unsigned row) {
    const auto comma = std::min(step.what.find(','), step.what.find(';'));
    write(left - 20, y(row), "end", step.what.substr(0, comma));
    const unsigned meeting = bank_conflict(step, all_.shape.warp_size);
    if (meeting > 1) write(left - 20, y(row) + 12, "end", fmt::format("{} threads in one bank", meeting));
    if (step.then.find("barrier") != step.then.npos) {
      lines_ += fmt::format(
          "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"#ccc\" stroke-dasharray=\"{}\"/>\n", left - 9,
          y(row) + 23, warps_left() - 16, y(row) + 23, step.then == "a warp barrier" ? "1 4" : "6 3");
    }
  }

  void draw_warps(const trace_step& step, unsigned row) {
    const std::set<unsigned> working = working_threads(step);
    const unsigned warp = all_.shape.warp_size;
    for (unsigned thread = 0; thread < step.threads * step.blocks; ++thread) {
      const unsigned at = thread * thread_width + thread / warp * 4 + thread / step.threads * 6;
      nodes_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"6\" height=\"12\" fill=\"{}\" stroke=\"#999\"/>\n",
                            warps_left() + at, y(row) - 6,
                            working.contains(thread) ? colors[thread / warp % std::size(colors)] : "#fff");
    }
  }

  const trace& all_;
  std::map<place, unsigned> row_of_, column_of_;
  std::string lines_, nodes_;
};

}  // namespace

std::string as_svg(const trace& all) { return drawing(all).text(); }

}  // namespace fanin::cli
