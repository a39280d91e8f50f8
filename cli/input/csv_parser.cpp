// SPDX-License-Identifier: Apache-2.0
#include "cli/input/csv_parser.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "cli/input/table_guess.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/text.hpp"

namespace fanin::cli {

namespace {

/// The offset of the first character at `at` or behind it that is neither a blank nor a tab.
std::size_t after_blanks(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(" \t", at), text.size());
}

[[noreturn]] void refuse_by_all() {
  throw usage_error("--by all needs a header, and there is none; choose columns by number, as in --by 1,2");
}

}  // namespace

csv_parser::csv_parser(const text_layout& layout)
    : layout_(layout),
      delimiter_(layout.delimiter.value_or(',')),
      choice_(layout.column),
      by_(layout.by.empty() ? std::nullopt : std::optional(column_choice(layout.by, "--by"))),
      in_header_(layout.header || choice_.has_name() || (by_ && by_->has_name())),
      guesses_header_(layout.guess_header && !in_header_),
      looks_ahead_(!layout.delimiter || guesses_header_ || choice_.is_all()),
      plain_records_(delimiter_) {
  layout_.skip_lines = 0;  // The caller has skipped them.
  if (by_ && by_->is_all() && !in_header_ && !guesses_header_) refuse_by_all();
}

std::size_t csv_parser::parse(std::string_view text, bool last, text_numbers& out) {
  if (looks_ahead_ && !look_ahead(text, last, out)) return 0;
  out.set_delimiter(delimiter_);
  if (!in_header_ && wanted_.empty()) choose_columns(out);
  std::size_t at = 0;
  field found;
  plain_records_.begin(text);
  while (at < text.size() || (last && field_index_ > 0)) {
    if (field_index_ == 0 && fields_of_record_ > 0 && delimiter_ != ' ') {
      at = parse_plain_records(text, at, out);
      if (at == text.size()) break;
    }
    if (field_index_ == 0 && layout_.comment) {
      const std::optional<std::size_t> next = after_comment(text, at, last, layout_.comment);
      if (!next) break;
      if (*next != at) {
        out.pass_line(at = *next);
        continue;
      }
    }
    if (!next_field(text, at, last, found, out)) break;
    const bool blank_line =
        found.ends_record && field_index_ == 0 && trimmed(text.substr(at, found.end - at)).empty();
    if (!blank_line && in_header_)
      header_field(found, at, out);
    else if (!blank_line)
      data_field(found, at, out);
    ++field_index_;
    if (found.ends_record) {
      field_index_ = 0;
      out.pass_line(found.end);
    }
    at = found.end;
  }
  return at;
}

std::size_t csv_parser::parse_plain_records(std::string_view text, std::size_t at, text_numbers& out) {
  const auto is_comment = [&] { return layout_.comment && after_comment(text, at, false, layout_.comment) != at; };
  while (!is_comment() && plain_records_.find(at, fields_of_record_)) {
    if (fields_of_record_ == 1 && trimmed(plain_records_.field(0)).empty()) break;  // a blank line
    for (const wanted_column& one : wanted_) {
      const std::string_view value = plain_records_.field(one.field);
      const auto begin = static_cast<std::size_t>(value.data() - text.data());
      append(trimmed(value), begin, out.columns()[one.index], out);
    }
    if (by_) {
      for (const wanted_column& one : key_columns_) keys_.set_field(one.index, plain_records_.field(one.field));
      end_key(out);
    }
    at = plain_records_.end();
    out.pass_line(at);
  }
  return at;
}

bool csv_parser::look_ahead(std::string_view text, bool last, const text_numbers& out) {
  if (text.size() <= most_guessed_bytes && !last) return false;
  if (!layout_.delimiter) {
    delimiter_ = guess_delimiter(text.substr(0, most_guessed_bytes), text.size() <= most_guessed_bytes, layout_, out);
    plain_records_ = plain_records(delimiter_);
  }
  if (!guesses_header_ && !choice_.is_all()) {
    looks_ahead_ = false;
    return true;
  }
  const std::optional<header_guess> guess = first_records(text, last, out);
  if (!guess) return false;
  if (guesses_header_) {
    in_header_ = guess->is_header(out.name());
    if (!in_header_) check_numbers(guess->first_record(), out);
    if (by_ && by_->is_all() && !in_header_) refuse_by_all();
  }
  first_fields_ = guess->first_record().size();
  is_ragged_ = guess->is_ragged();
  if (choice_.is_all()) others_ = guess->other_columns(in_header_, layout_.skip_missing);
  looks_ahead_ = false;
  return true;
}

std::optional<header_guess> csv_parser::first_records(std::string_view text, bool last, const text_numbers& out) {
  const bool is_cut = text.size() > header_guess::most_bytes_of_long, is_all = last && !is_cut;
  if (is_cut) text = text.substr(0, header_guess::most_bytes_of_long);
  text_numbers messages = out;  // no message is shown
  header_guess guess(out);
  field found;
  std::size_t at = 0, index = 0;
  try {
    for (; at < text.size() && index < most_names; at = found.end) {
      const std::optional<std::size_t> begin = index == 0 ? after_comment(text, at, is_all, layout_.comment) : at;
      if (!begin) break;
      found.end = *begin;
      if (*begin != at) continue;
      if (!next_field(text, at, is_all, found, messages)) break;
      if (found.end > guess.end_of_guess()) break;
      const bool blank_line = found.ends_record && index == 0 && trimmed(text.substr(at, found.end - at)).empty();
      if (!blank_line) guess.add_field(found.value, text[at] == '"');
      index = found.ends_record ? 0 : index + 1;
      if (found.ends_record && !blank_line) guess.end_record(found.end);
    }
  } catch (const bad_data&) {
    // The guess has to be made from the records before. The parser finds the fault again and reports it.
  }
  const bool is_complete = last || is_cut || index == most_names || text.size() > guess.end_of_guess();
  return is_complete ? std::optional(std::move(guess)) : std::nullopt;
}

void csv_parser::check_numbers(const std::vector<std::string>& first_record, const text_numbers& out) const {
  choice_.check_numbers(first_record, out.name());
  if (by_) by_->check_numbers(first_record, out.name());
}

bool csv_parser::next_field(std::string_view text, std::size_t begin, bool last, field& found, text_numbers& out) {
  if (delimiter_ == ' ') begin = after_blanks(text, begin);
  if (begin < text.size() && text[begin] == '"') return quoted_field(text, begin, last, found, out);
  std::size_t end = begin;
  while (end < text.size() && !separates_fields(text[end], delimiter_) && !ends_line(text[end])) ++end;
  found.value = text.substr(begin, end - begin);
  // The part of a field that a piece of the text has may end before a field that is too long does.
  if (const std::size_t nul = found.value.substr(0, longest_field).find('\0'); nul != found.value.npos) {
    out.fail(begin + nul, "a byte 0x00 is not text");
  }
  out.check_length(end - begin, longest_field, begin);
  return end_field(text, end, last, found);
}

bool csv_parser::end_field(std::string_view text, std::size_t at, bool last, field& found) const {
  const std::size_t end = delimiter_ == ' ' ? after_blanks(text, at) : at;
  if (end > at && end < text.size() && !ends_line(text[end])) {
    found.ends_record = false;
    found.end = end;
    return true;
  }
  at = end;
  found.ends_record = at == text.size() || ends_line(text[at]);
  std::optional<std::size_t> next = at + 1;
  if (at == text.size()) {
    next = last ? std::optional(at) : std::nullopt;
  } else if (found.ends_record) {
    next = after_line_end(text, at, last);
  }
  found.end = next.value_or(0);
  return next.has_value();
}

bool csv_parser::quoted_field(std::string_view text, std::size_t begin, bool last, field& found, text_numbers& out) {
  unquoted_.clear();
  std::size_t at = begin + 1, lines = 0;
  for (;; ++at) {
    out.check_length(at - begin, longest_field, begin);
    if (at >= text.size()) {
      if (!last) return false;
      out.fail(begin, "a quote is not closed");
    }
    if (text[at] == '\0') out.fail(at, "a byte 0x00 is not text");
    if (text[at] == '"') {
      if (at + 1 == text.size() || text[at + 1] != '"') break;  // Pieces are read again where a field may go on.
      ++at;
    }
    if (text[at] == '\n' ? text[at - 1] != '\r' : text[at] == '\r') ++lines;
    unquoted_ += text[at];
  }
  ++at;
  if (!end_field(text, at, last, found)) return false;
  if (!found.ends_record && !separates_fields(text[at], delimiter_)) out.fail(at, "text follows a closing quote");
  found.value = unquoted_;
  out.pass_quoted_lines(lines);
  return true;
}

void csv_parser::header_field(const field& found, std::size_t begin, text_numbers& out) {
  if (names_.size() == most_names) out.fail(begin, fmt::format("the header has more than {} names", most_names));
  out.check_length(found.value.size(), longest_word, begin);
  names_.emplace_back(trimmed(found.value));
  if (!found.ends_record) return;
  choose_columns(out);
  end_record(begin, out);
  in_header_ = false;
}

void csv_parser::note_names(const column_choice& choice, const text_numbers& out) const {
  const std::string note = choice.numbers_as_names(names_);
  if (!note.empty()) write_stderr(fmt::format("warning: {}: {}", out.name(), note));
}

bool csv_parser::is_left_out(std::size_t place) const {
  return std::ranges::find(others_, place, &header_guess::other_column::field) != others_.end();
}

void csv_parser::leave_out_others(const text_numbers& out) const {
  if (others_.empty()) return;
  const std::size_t shown = std::min<std::size_t>(others_.size(), 16);
  std::string columns, advice;
  for (const auto& [place, text] : std::span(others_).first(shown)) {
    if (advice.empty()) advice = advice_on(text, layout_.numbers, delimiter_, place == 0);
    const bool has_name = place < names_.size() && !names_[place].empty();
    columns += fmt::format("{}{} {}", columns.empty() ? "" : ", ",
                           has_name ? printable(names_[place]) : std::to_string(place + 1),
                           text.empty() ? "(empty)" : fmt::format("'{}'", printable(text)));
  }
  if (shown < others_.size()) columns += fmt::format(" and {} more", others_.size() - shown);
  if (others_.size() == first_fields_) {
    if (advice.empty() && is_ragged_) {
      advice = "; if the table begins further down, --skip-lines or --comment skips the lines above it";
    }
    if (names_.empty() && advice.empty()) advice = "; if line 1 names the columns, say --header";
    throw bad_data(fmt::format("{}: no column is all numbers: {}{}", out.name(), columns, advice));
  }
  write_stderr(fmt::format("note: {}: left out {} not all numbers: {}{}", out.name(),
                           others_.size() == 1 ? "the column that is" : "the columns that are", columns, advice));
}

void csv_parser::choose_columns(text_numbers& out) {
  std::vector<chosen_column> chosen = choice_.resolve(names_, out.name());
  note_names(choice_, out);
  if (choice_.is_every(names_)) {
    leave_out_others(out);
    std::erase_if(chosen, [this](const chosen_column& one) { return is_left_out(one.field); });
  }
  out.columns().clear();
  for (const chosen_column& one : chosen) {
    wanted_.push_back({one.field, out.columns().size()});
    out.add_column(is_lone() ? "" : one.name, one.heading, one.field + 1);
  }
  std::ranges::sort(wanted_, {}, &wanted_column::field);
  if (!by_) return;
  note_names(*by_, out);
  std::vector<std::string> names;
  for (const chosen_column& one : by_->resolve(names_, out.name())) {
    key_columns_.push_back({one.field, key_columns_.size()});
    names.push_back(one.heading.empty() ? std::to_string(one.field + 1) : one.heading);
  }
  keys_.set_names(std::move(names));
  std::ranges::sort(key_columns_, {}, &wanted_column::field);
}

void csv_parser::end_key(text_numbers& out) {
  const std::vector<column_values>& columns = out.columns();
  keys_.end_record(columns.size());
  missing_.resize(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].missing == missing_[i]) keys_.add_element(i);
    missing_[i] = columns[i].missing;
  }
  next_key_ = 0;
}

void csv_parser::add_column(std::size_t begin, text_numbers& out) {
  if (field_index_ == most_names) out.fail(begin, fmt::format("the record has more than {} fields", most_names));
  if (is_left_out(field_index_)) return;
  wanted_.push_back({field_index_, out.columns().size()});
  out.add_column(is_lone() ? "" : std::to_string(field_index_ + 1), "", field_index_ + 1);
}

void csv_parser::data_field(const field& found, std::size_t begin, text_numbers& out) {
  if (choice_.is_all() && fields_of_record_ == 0) add_column(begin, out);
  if (next_wanted_ < wanted_.size() && wanted_[next_wanted_].field == field_index_) {
    append(trimmed(found.value), begin, out.columns()[wanted_[next_wanted_].index], out);
    ++next_wanted_;
  }
  if (next_key_ < key_columns_.size() && key_columns_[next_key_].field == field_index_) {
    keys_.set_field(key_columns_[next_key_].index, found.value);
    ++next_key_;
  }
  if (!found.ends_record) return;
  end_record(begin, out);
  if (by_) end_key(out);
}

void csv_parser::append(std::string_view word, std::size_t begin, column_values& to, text_numbers& out) const {
  const std::errc code = out.append(word, begin, to);
  if (code == std::errc()) return;
  const bool perhaps_header = out.line() == 1 && code == std::errc::invalid_argument;
  out.refuse(code, word, begin, to,
             perhaps_header     ? "; if line 1 names the columns, say --header"
             : choice_.is_all() ? "; --column chooses other columns"
                                : "");
}

void csv_parser::check_only(text_numbers& out) const {
  const std::vector<column_values>& all = out.columns();
  if (!takes_only_column() || all.size() < 2) return;
  constexpr std::size_t most_shown = 16;
  std::string names;
  for (const column_values& one : std::span(all).first(std::min(all.size(), most_shown))) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ",
                         one.heading.empty() ? std::to_string(one.number) : printable(one.heading));
  }
  if (all.size() > most_shown) names += fmt::format(" and {} more", all.size() - most_shown);
  throw usage_error(
      fmt::format("{}: there are several columns of numbers, {}; choose one with --column", out.name(), names));
}

void csv_parser::end_record(std::size_t begin, text_numbers& out) {
  const std::size_t fields = field_index_ + 1;
  next_wanted_ = 0;
  if (fields_of_record_ == 0 && fields <= wanted_.back().field) {
    out.fail(begin, fmt::format("the record has only {}, but --column asks for field {}{}", counted(fields, "field"),
                                wanted_.back().field + 1,
                                fields == 1 ? "; if blanks separate the fields, say --delimiter ' '" : ""));
  }
  if (fields_of_record_ == 0 && by_ && fields <= key_columns_.back().field) {
    out.fail(begin, fmt::format("the record has only {}, but --by asks for field {}", counted(fields, "field"),
                                key_columns_.back().field + 1));
  }
  if (fields_of_record_ == 0) {
    check_only(out);
    fields_of_record_ = fields;
  }
  if (fields == fields_of_record_) return;
  out.fail(begin, fmt::format("the record has {}, but {}", counted(fields, "field"),
                              names_.empty() ? fmt::format("the first record has {}", fields_of_record_)
                                             : fmt::format("the header has {}", counted(fields_of_record_, "name"))));
}

}  // namespace fanin::cli
