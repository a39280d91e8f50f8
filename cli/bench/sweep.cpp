// SPDX-License-Identifier: Apache-2.0
// Makes the cases of fanin bench from its axes.
#include <algorithm>
#include <bit>
#include <iterator>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fanin/error.hpp>

#include "cli/bench/bench.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/options.hpp"
#include "cli/kit/text.hpp"

namespace fanin::cli {

namespace {

/// The enumerators that the words name. The word `all` names all enumerators in `known`.
template <class Enum>
std::vector<Enum> chosen(std::string_view what, const std::vector<std::string>& words, std::span<const Enum> known,
                         std::vector<Enum> otherwise) {
  std::vector<Enum> found;
  for (const std::string& word : words) {
    if (word == "all") {
      found.insert(found.end(), known.begin(), known.end());
    } else {
      found.push_back(parse_choice<Enum>(what, word, known));
    }
  }
  return words.empty() ? otherwise : found;
}

void check_variants(const std::vector<std::string>& names) {
  std::vector<std::string_view> known;
  for (const backend* one : backends()) {
    for (const variant_info& variant : one->variants()) known.push_back(variant.name);
  }
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) == known.end()) {
      throw usage_error(fmt::format("unknown variant '{}'{}", printable(name), detail::suggestion(name, known)));
    }
  }
}

/// The named variants of the backend, or without names its default variant of each method.
std::vector<variant_info> chosen_variants(const fanin::backend& backend, const std::vector<std::string>& names,
                                          const std::vector<fanin::method>& methods) {
  std::vector<variant_info> all;
  for (const variant_info& variant : backend.variants()) {
    const auto first = std::ranges::find(backend.variants(), variant.method, &variant_info::method);
    const bool named =
        names.empty() ? first->name == variant.name : std::ranges::find(names, variant.name) != names.end();
    if (named && std::ranges::find(methods, variant.method) != methods.end()) all.push_back(variant);
  }
  return all;
}

/// A layout, and the elements of each result, or 0 of one array.
struct placement {
  bench_layout layout;
  std::size_t length;
};

std::vector<placement> chosen_placements(const bench_axes& axes) {
  const auto layouts =
      chosen<bench_layout>("layout", axes.layouts, all_bench_layouts, std::vector{bench_layout::array});
  std::vector<std::size_t> lengths;
  for (const std::string& text : axes.lengths) lengths.push_back(parse_number<std::uint64_t>("--length", 1, text));
  if (lengths.empty()) lengths = {16, 256, 4096};
  std::vector<placement> all;
  for (const bench_layout layout : layouts) {
    if (layout == bench_layout::array) {
      all.push_back({layout, 0});
    } else {
      for (const std::size_t length : lengths) all.push_back({layout, length});
    }
  }
  if (!axes.lengths.empty() && std::ranges::all_of(all, [](const placement& one) { return one.length == 0; })) {
    throw usage_error("--length requires --layout axis0, axis1, segments or groups");
  }
  return all;
}

bool exists(const bench_case& one) {
  const array_view x(nullptr, one.count, one.type, one.backend->home());
  request query{one.what,           fanin::detail::repeated(one.what, x),
                one.variant.method, default_result(one.what, one.type),
                one.variant.name,   1};
  query.kind = kind_of(one.layout);
  return one.backend->supports(query).usable();
}

}  // namespace

std::string bench_case::name() const {
  const std::string of_array = fmt::format("{}/{}/{}/{}/{}/{}", backend->name(), variant.name, to_string(what),
                                           to_string(type), to_string(variant.method), count);
  return is_batch() ? fmt::format("{}/{}/{}", of_array, to_string(layout), length) : of_array;
}

std::size_t bench_case::bytes() const {
  return static_cast<std::size_t>(row_of(what).inputs) * count * byte_size(type);
}

std::vector<bench_case> sweep(const bench_axes& axes) {
  const auto methods =
      chosen<fanin::method>("method", axes.methods, all_methods, {std::begin(all_methods), std::end(all_methods)});
  const auto types =
      chosen<element_type>("element type", axes.types, all_element_types, {element_type::f32, element_type::f64});
  const auto whats = chosen<operation>("operation", axes.operations, all_operations, {operation::sum});
  const auto usable = chosen_backends(axes.backends);
  check_variants(axes.variants);
  std::vector<std::size_t> counts;
  for (const std::string& text : axes.counts) counts.push_back(parse_number<std::uint64_t>("--count", 1, text));
  if (counts.empty()) counts = {std::size_t{1} << 12, std::size_t{1} << 24};

  const std::vector<placement> placements = chosen_placements(axes);

  std::vector<bench_case> all;
  std::set<std::string> names;  // An axis may contain a word twice.
  bool any_divided = false;
  for (const element_type type : types) {
    for (const operation what : whats) {
      for (const std::size_t count : counts) {
        for (const placement& placed : placements) {
          if (placed.length > 0 && count % placed.length != 0) continue;
          any_divided = true;
          for (const backend* one : usable) {
            for (const variant_info& variant : chosen_variants(*one, axes.variants, methods)) {
              const bench_case next{one, variant, what, type, count, placed.layout, placed.length};
              if (names.insert(next.name()).second && exists(next)) all.push_back(next);
            }
          }
        }
      }
    }
  }
  if (!any_divided) throw usage_error("no --count is a multiple of a --length; choose a --count that is");
  if (all.empty()) throw usage_error("no usable backend has this combination of options; see 'fanin backends'");
  return all;
}

}  // namespace fanin::cli
