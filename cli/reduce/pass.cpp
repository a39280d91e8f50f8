// SPDX-License-Identifier: Apache-2.0
#include "cli/reduce/pass.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "cli/kit/errors.hpp"
#include "cli/kit/text.hpp"

namespace fanin::cli {

namespace {

constexpr std::size_t bytes_in_cache = std::size_t{4} << 20;
constexpr std::size_t most_bytes = std::numeric_limits<std::size_t>::max();

}  // namespace

reduction_pass::reduction_pass(std::span<const statistic> statistics, const source& first, const options& chosen)
    : statistics_(statistics.begin(), statistics.end()), chosen_(chosen) {
  for (const input_column& one : first.columns()) {
    columns_.push_back({.name = one.name, .own = own_statistics(statistics, chosen.nan)});
  }
  for (const statistic& one : statistics) {
    if (one.is_own()) {
      one.check_own(first.type(), chosen);
      continue;
    }
    const operation what = one.like;
    operations_.push_back(what);
    const bool is_inferred = first.infers_types();
    const auto make = [what, chosen, is_inferred](element_type type) {
      check_inferred(what, type, is_inferred);
      return std::make_unique<incremental>(what, type, chosen);
    };
    const std::vector<element_type> types = supported_types(first.possible_types(), make);
    for (column& to : columns_) to.streams.emplace_back(types, make);
  }
}

void reduction_pass::refuse_type(element_type had, element_type found) const {
  const std::string& first = inputs_.front().name;
  throw usage_error(fmt::format("{} has elements of {}, but {} has elements of {}", first, to_string(had),
                                inputs_.back().name, to_string(found)));
}

void reduction_pass::refuse_column(std::size_t which, std::string_view had, std::string_view input,
                                   std::string_view found) const {
  const std::string place = columns_.size() == 1 ? "the column" : fmt::format("column {}", which + 1);
  throw usage_error(fmt::format("{} of {} is '{}', but in {} it is '{}'{}", place, inputs_.front().name,
                                printable(had), input, printable(found), advice_on_names));
}

void reduction_pass::check_same(const source& input) {
  if (inputs_.size() == 1) return;
  const read_input& first = inputs_.front();
  for (column& one : columns_) {
    for (std::size_t k = 0; k < one.streams.size(); ++k) {
      const element_type type = one.streams[k].type();
      if (!one.streams[k].keep(input.possible_types())) refuse_type(type, input.type());
    }
  }
  if (std::ranges::equal(columns_, input.columns(), {}, &column::name, &input_column::name)) return;
  const std::span<const input_column> others = input.columns();
  if (columns_.size() != others.size()) {
    throw usage_error(fmt::format("{} has {}, but {} has {}", first.name, counted(columns_.size(), "column"),
                                  input.name(), counted(others.size(), "column")));
  }
  const auto differ = std::ranges::mismatch(columns_, others, {}, &column::name, &input_column::name);
  refuse_column(static_cast<std::size_t>(differ.in1 - columns_.begin()), differ.in1->name, input.name(),
                differ.in2->name);
}

void reduction_pass::push(column& to, const array_view& piece) {
  element_forms forms(piece);
  for (std::size_t k = 0; k < to.streams.size(); ++k) {
    const element_type type = to.streams[k].type();
    if (to.streams[k].push(forms)) continue;
    // One input has two types if its numbers turn out to have fractions: then the operation refuses the second type.
    if (inputs_.size() == 1) static_cast<void>(incremental(operations_[k], piece.type, chosen_));
    refuse_type(type, piece.type);
  }
  const element_type type = to.own.type();
  if (!to.own.push(piece)) refuse_type(type, piece.type);
}

void reduction_pass::read(source& input, exact_state* state) {
  inputs_.push_back(described(input));
  check_same(input);
  line_.set_task(fmt::format("{} of {}", statistics_.size() == 1 ? statistics_[0].name : "reduction", input.name()));
  for_each_piece(input, statistics_.size() == 1 ? most_bytes : bytes_in_cache,
                 [&](std::size_t i, const array_view& piece) {
                   with_input_name(input.name(), [&] { push(columns_[i], piece); });
                   if (state != nullptr) state->add(piece);
                   columns_[i].count += piece.count;
                   line_.add_bytes(piece.bytes());
                 });
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    columns_[i].missing += input.columns()[i].missing;
    columns_[i].rounded += input.columns()[i].rounded;
    columns_[i].has_numbers = columns_[i].has_numbers || input.columns()[i].has_numbers;
  }
  check_same_headings(input);
  lines_.add(input);
  input.finish();
}

void reduction_pass::check_same_headings(const source& input) {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const std::string &heading = input.columns()[i].heading, &first = columns_[i].heading;
    if (inputs_.size() == 1) columns_[i].heading = heading;
    if (!first.empty() && !heading.empty() && first != heading) refuse_column(i, first, input.name(), heading);
  }
}

std::vector<finished_reduction> reduction_pass::finish() {
  std::vector<finished_reduction> all;
  for (column& one : columns_) {
    if (!one.has_numbers) continue;
    auto stream = one.streams.begin();
    for (const statistic& what : statistics_) {
      finished_reduction done{.what = what,
                              .inputs = inputs_,
                              .column = one.name,
                              .type = what.is_own() ? one.own.type() : stream->type(),
                              .count = one.count,
                              .missing = one.missing,
                              .reached = {}};
      if (!is_integer(done.type)) done.rounded = one.rounded;
      reach(done, [&] { return what.is_own() ? one.own(what) : (stream++)->chosen().finish(); });
      if (const std::optional<std::uint64_t> index = index_of(done.reached.value))
        done.found = lines_.place_of(*index);
      done.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
      all.push_back(std::move(done));
    }
  }
  line_.end();
  return all;
}

}  // namespace fanin::cli
