// SPDX-License-Identifier: Apache-2.0
#include "cli/lesson/overview.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "cli/lesson/trace.hpp"
#include "cli/report/charts.hpp"
#include "cli/report/draw.hpp"

namespace fanin::cli {

namespace {

using charts::escaped;

/// The first of two numbers of the title, as in "07".
std::string_view number_of(const overview_row& one) { return std::string_view(one.title).substr(0, 2); }

/// The names of the devices, in the order of the times.
std::vector<std::string> devices_of(const std::vector<overview_row>& stages) {
  std::vector<std::string> all;
  for (const overview_row& one : stages) {
    for (const stage_time& time : one.times.all) {
      if (std::ranges::find(all, time.device) == all.end()) all.push_back(time.device);
    }
  }
  return all;
}

/// The time by which stages are compared: the last one for floats, which is that of most elements.
const stage_time* time_on(const overview_row& one, const std::string& device) {
  const stage_time *found = nullptr, *of_floats = nullptr;
  for (const stage_time& time : one.times.all) {
    if (time.device != device) continue;
    found = &time;
    if (time.input.find("f32") != time.input.npos) of_floats = &time;
  }
  return of_floats != nullptr ? of_floats : found;
}

/// The input of the first stage that was timed on the device.
std::string first_input(const std::vector<overview_row>& stages, const std::string& device) {
  for (const overview_row& one : stages) {
    if (const stage_time* time = time_on(one, device)) return time->input;
  }
  return "";
}

std::string title_of_time(const overview_row& one, const stage_time& time, const std::string& first_input) {
  return time.input == first_input ? one.title : fmt::format("{} ({})", one.title, time.input);
}

std::string share_cell(double share) {
  const double percent = 100 * share;
  return fmt::format("<td class=\"number share\" style=\"--share:{:.1f}%\">{:.1f}&#160;%</td>",
                     std::min(percent, 100.0), percent);
}

std::string times_cell(const std::optional<double>& times) {
  return fmt::format("<td class=\"number\">{}</td>", times ? fmt::format("{:.2f}&#160;&#215;", *times) : "");
}

std::string cells_of(const stage_time& one) {
  const std::optional<double> over = one.over ? std::optional(one.over->times) : std::nullopt;
  return fmt::format("<td class=\"number\">{:.1f}</td><td class=\"number\">{:.0f}</td>{}{}{}", one.microseconds,
                     one.gigabytes_per_second, share_cell(one.share_of_ceiling), times_cell(over),
                     times_cell(one.since_first));
}

std::string headings(const std::vector<std::string>& names) {
  std::string cells;
  for (const std::string& name : names) cells += fmt::format("<th scope=\"col\">{}</th>", escaped(name));
  return fmt::format("<div class=\"scroll\"><table>\n<tr>{}</tr>\n", cells);
}

constexpr std::string_view end_of_table = "</table></div>\n";

struct branch {
  std::string_view name;
  std::size_t colour;
};

branch branch_of(std::string_view stage) {
  const traced_stage& one = find_traced_stage(stage);
  if (one.how == reading::in_place) return {"global memory", 0};
  if (one.has_resident_blocks()) return {"whole device", 4};
  return one.fold == tree::shuffles || one.fold == tree::at_once ? branch{"registers", 2}
                                                                 : branch{"shared memory", 1};
}

}  // namespace

std::string html_of_map(const std::vector<overview_row>& stages) {
  constexpr unsigned width = 26, height = 34, side = 21, margin = 4, label = 12;
  struct node {
    unsigned column, row;
  };
  std::map<std::string_view, node> places;
  std::map<std::string_view, unsigned> children;
  std::map<std::size_t, std::string> named;  // The branches that have a name in the picture.
  unsigned columns = 0, rows = 0;
  std::string lines, nodes;
  for (const overview_row& one : stages) {
    node at{0, 0};
    if (const auto before = places.find(one.builds_on); before != places.end()) {
      // The first stage after another one continues its row.
      at = {before->second.column + 1, children[one.builds_on]++ == 0 ? before->second.row : ++rows};
      lines += fmt::format("<path d=\"M{} {}V{}H{}\"/>\n", margin + before->second.column * width + side / 2,
                           label + before->second.row * height + side / 2, label + at.row * height + side / 2,
                           margin + at.column * width);
    }
    places[one.stage] = at;
    columns = std::max(columns, at.column + 1);
    const branch is = branch_of(one.stage);
    const unsigned x = margin + at.column * width, y = label + at.row * height;
    if (named.emplace(is.colour, is.name).second) {
      nodes += fmt::format("<text x=\"{}\" y=\"{}\" class=\"label\">{}</text>\n", x, y - 3, is.name);
    }
    nodes += fmt::format(
        "<a href=\"#{}\"><title>{}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"4\" class=\"c{}\"/>"
        "<text x=\"{}\" y=\"{}\">{}</text></a>\n",
        one.stage, one.title, x, y, side, side, is.colour, x + side / 2, y + 15, number_of(one));
  }
  return fmt::format(
      "<svg viewBox=\"0 0 {} {}\" class=\"chart map\" role=\"img\" aria-label=\"Which stage builds on which\">\n{}{}"
      "</svg>\n",
      2 * margin + columns * width + 20, label + (rows + 1) * height, lines, nodes);
}

std::string html_of_charts(const std::vector<overview_row>& stages) {
  constexpr double wide = 832, narrow = 358;
  std::string all;
  for (const std::string& device : devices_of(stages)) {
    charts::row_chart chart{"GB/s", true, 0, "", 0, {}, {}};
    double most = 0;
    const std::string input = first_input(stages, device);
    for (const overview_row& one : stages) {
      const stage_time* time = time_on(one, device);
      if (time == nullptr) continue;  // Without a bar the row would be a heading.
      const branch is = branch_of(one.stage);
      if (time->share_of_ceiling > most) {  // The largest share is the least rounded one.
        most = time->share_of_ceiling;
        chart.reference = time->gigabytes_per_second / most;
      }
      chart.rows.push_back({title_of_time(one, *time, input),
                            fmt::format("{:.1f} %", 100 * time->share_of_ceiling),
                            is.colour,
                            {time->gigabytes_per_second}});
      chart.add_key(std::string(is.name), is.colour);
    }
    chart.reference_name = fmt::format("read ceiling, {:.0f} GB/s", chart.reference);
    const std::string words[] = {"speeds", device};
    const charts::figure figure{"ladder",
                                charts::id_of(words),
                                fmt::format("{} on an {}", input, device),
                                "Bars of GB/s for each stage, with a line at the read ceiling.",
                                chart,
                                {}};
    all += fmt::format("<figure class=\"speeds\"><figcaption>GB/s for {}</figcaption>\n", escaped(figure.title));
    for (const auto& [name, size] : {std::pair("wide", wide), std::pair("narrow", narrow)}) {
      all +=
          fmt::format("<div class=\"{}\">{}</div>\n", name, charts::inline_svg(figure, size, figure.id + "-" + name));
    }
    all += "</figure>\n";
  }
  return all;
}

std::string html_of_gains(const std::vector<overview_row>& stages) {
  std::string tables;
  for (const std::string& device : devices_of(stages)) {
    const std::string input = first_input(stages, device);
    tables += headings(
        {fmt::format("{}, {}", device, input), "builds on", "us", "GB/s", "of the ceiling", "gain", "gain since 01"});
    for (const overview_row& one : stages) {
      const auto before = std::ranges::find(stages, one.builds_on, &overview_row::stage);
      const stage_time* time = time_on(one, device);
      tables += fmt::format("<tr><th scope=\"row\"><a href=\"#{}\">{}</a></th><td>{}</td>{}</tr>\n", one.stage,
                            time == nullptr ? one.title : title_of_time(one, *time, input),
                            before == stages.end() ? "" : number_of(*before),
                            time == nullptr ? "<td></td><td></td><td></td><td></td><td></td>" : cells_of(*time));
    }
    tables += end_of_table;
  }
  return tables;
}

std::string html_of_times(const stage_times& times) {
  if (times.all.empty()) return "<p><strong>Measured.</strong> These results have no time of this stage.</p>\n";
  std::string rows;
  std::string over = "gain";
  for (const stage_time& one : times.all) {
    if (one.over) over = "gain over " + one.over->builds_on;
    rows +=
        fmt::format("<tr><td>{}</td><td>{}</td>{}</tr>\n", escaped(one.device), escaped(one.input), cells_of(one));
  }
  return fmt::format("<p><strong>Measured.</strong> {}</p>\n{}{}{}", escaped(times.from),
                     headings({"device", "input", "us", "GB/s", "of the ceiling", over, "gain since 01"}), rows,
                     end_of_table);
}

}  // namespace fanin::cli
