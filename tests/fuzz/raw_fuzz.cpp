// SPDX-License-Identifier: Apache-2.0
// Any bytes as raw elements, with any --type, --skip and --count: a mapped file and a pipe have the same elements,
// which are the input's own bytes, and both are refused exactly where the bytes do not suffice.
#include <algorithm>

#include "tests/fuzz/file_and_pipe.hpp"

using namespace fanin;
using namespace fanin::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  input_bytes in(data, size);
  const element_type type = all_element_types[in.choice(all_element_types.size())];
  const std::uint8_t skip = in.byte(), choices = in.byte(), count = in.byte();
  cli::input_options arguments{.format = "raw", .type = std::string(to_string(type)), .skip = skip};
  if (choices % 2 == 1) arguments.count = choices >= 250 ? ~std::uint64_t{0} / (choices - 249) : count;
  const auto bytes = in.bytes().first(std::min(in.bytes().size(), numbered_descriptor::most_bytes));

  const read_input file = read_as(numbered_descriptor::kind::file, bytes, arguments);
  const read_input pipe = read_as(numbered_descriptor::kind::pipe, bytes, arguments);
  const std::size_t width = byte_size(type), left = bytes.size() - std::min<std::size_t>(bytes.size(), skip);
  const bool suffices =
      skip <= bytes.size() && (arguments.count ? *arguments.count <= left / width : left % width == 0);
  expect(file.error.empty() == suffices, "a file is refused exactly where its bytes do not suffice");
  expect(pipe.error.empty() == suffices, "a pipe is refused exactly where its bytes do not suffice");
  if (!suffices) return 0;
  const auto wanted = std::as_bytes(bytes.subspan(skip, arguments.count.value_or(left / width) * width));
  expect(std::ranges::equal(file.elements, wanted), "the elements of a file are its bytes");
  expect(std::ranges::equal(pipe.elements, wanted), "the elements of a pipe are its bytes");
  return 0;
}
