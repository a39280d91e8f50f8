// SPDX-License-Identifier: Apache-2.0
#include "cli/lesson/words.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "cli/kit/text.hpp"
#include "cli/lesson/story.hpp"
#include "cli/report/charts.hpp"
#include "cli/report/svg.hpp"

namespace fanin::cli {

namespace {

std::string text_of(const std::vector<markdown::span>& cell) {
  std::string text;
  for (const markdown::span& one : cell) text += one.text;
  return text;
}

std::vector<explained_word> read_words() {
  std::vector<explained_word> all;
  for (const std::string_view page : {"Words", "Counters"}) {
    for (const markdown::block& one : story_of(page)) {
      if (one.is != markdown::block::kind::row) continue;
      const auto cells = one.cells();
      const bool is_counter = page == "Counters";
      explained_word word{split(text_of(cells[0]), ','), {}, text_of(cells[1]), is_counter};
      for (std::string& form : word.forms) form.erase(0, form.find_first_not_of(' '));
      const std::string words[] = {is_counter ? "counter" : "word", word.forms.front()};
      word.id = charts::id_of(words);
      if (is_counter) word.meaning += fmt::format(" ({} in Nsight Compute)", text_of(cells[2]));
      all.push_back(std::move(word));
    }
  }
  return all;
}

bool is_in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_'; }

bool same_letters(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b,
                            [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

struct found_word {
  const explained_word* word = nullptr;
  std::size_t size = 0;
};

/// The longest word that begins at `at`.
found_word word_at(std::string_view text, std::size_t at) {
  found_word found;
  if (at > 0 && is_in_word(text[at - 1])) return found;
  for (const explained_word& one : explained_words()) {
    if (one.is_counter) continue;
    for (const std::string& form : one.forms) {
      const std::size_t end = at + form.size();
      if (form.size() <= found.size || end > text.size() || (end < text.size() && is_in_word(text[end]))) continue;
      if (same_letters(text.substr(at, form.size()), form)) found = {&one, form.size()};
    }
  }
  return found;
}

}  // namespace

const std::vector<explained_word>& explained_words() {
  static const std::vector<explained_word> all = read_words();
  return all;
}

std::string word_links::link(const explained_word& word, std::string_view text) {
  if (!linked_.insert(word.id).second) return charts::escaped(text);
  return fmt::format("<a class=\"word\" href=\"#{}\" title=\"{}\">{}</a>", word.id, charts::escaped(word.meaning),
                     charts::escaped(text));
}

std::string word_links::operator()(const markdown::span& text) {
  std::string html;
  const std::string_view all = text.text;
  if (text.style == text_style::code) {
    const auto counter = std::ranges::find_if(
        explained_words(), [&](const explained_word& one) { return one.is_counter && one.forms.front() == all; });
    return counter == explained_words().end() ? charts::escaped(all) : link(*counter, all);
  }
  std::size_t plain = 0;  // Where the text begins that is not written yet.
  for (std::size_t at = 0; at < all.size();) {
    const found_word found = word_at(all, at);
    if (found.word != nullptr) {
      html += charts::escaped(all.substr(plain, at - plain)) + link(*found.word, all.substr(at, found.size));
      plain = at + found.size;
    }
    at += std::max<std::size_t>(found.size, 1);
  }
  return html + charts::escaped(all.substr(plain));
}

std::string html_of_words() {
  std::string items;
  for (const explained_word& one : explained_words()) {
    items += fmt::format("<dt id=\"{}\">{}</dt><dd>{}</dd>\n", one.id, charts::escaped(one.forms.front()),
                         charts::escaped(one.meaning));
  }
  return fmt::format("<dl>\n{}</dl>\n", items);
}

}  // namespace fanin::cli
