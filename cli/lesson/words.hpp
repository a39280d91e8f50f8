// SPDX-License-Identifier: Apache-2.0
// The words of docs/ladder.md that the lesson explains where they occur.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "cli/lesson/markdown.hpp"

namespace fanin::cli {

struct explained_word {
  std::vector<std::string> forms;  ///< as in "bank" and "banks"; the first one is the title
  std::string id, meaning;
  bool is_counter;  ///< explained where it is written as code
};

/// The words of the page's sections "Words" and "Counters".
const std::vector<explained_word>& explained_words();

/// Writes text as HTML, in which the first occurrence of each word or counter is a link to its explanation.
class word_links {
 public:
  std::string operator()(const markdown::span& text);

 private:
  std::string link(const explained_word& word, std::string_view text);

  std::set<std::string> linked_;  ///< ids
};

/// The explanations, each with its id.
std::string html_of_words();

}  // namespace fanin::cli
