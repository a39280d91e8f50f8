// SPDX-License-Identifier: Apache-2.0
// What is said about a command line that CLI11 cannot parse. CLI11's own messages are hard to read.
#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace fanin::cli {

/// Says in a sentence what is wrong, and how to write it. `parser` is the parser that threw the error.
std::string sentence_about(const CLI::ParseError& error, const CLI::App& parser);

/// The parser has to allow extra words. @throws usage_error about the first such word, with what it may stand for
void refuse_unknown_words(const CLI::App& parser);

}  // namespace fanin::cli
