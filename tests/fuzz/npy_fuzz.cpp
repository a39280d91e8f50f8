// SPDX-License-Identifier: Apache-2.0
// Any bytes as a .npy file: the reader returns the elements that the header promises or throws bad_data, touches
// nothing else, and finds the same in a mapped file and in a pipe.
#include "cli/input/compression.hpp"
#include "cli/input/npy.hpp"
#include "cli/input/npz.hpp"
#include "tests/fuzz/file_and_pipe.hpp"

using namespace fanin::cli;
using namespace fanin::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(data, size);
  const read_input in_memory = outcome_of([&](read_input& found) {
    byte_reader in(std::as_bytes(bytes), "fuzz");
    const npy_header header = read_npy_header(in);
    const auto blocks = binary_blocks(in, header.type, header.count, true);
    for (auto block = blocks->next()[0]; block.count > 0; block = blocks->next()[0]) append(found, block);
    expect(found.elements.size() == header.count * byte_size(header.type),
           "all elements that the header promises are read");
    expect(header.header_bytes + found.elements.size() == size, "nothing is left behind the elements");
  });
  if (size > numbered_descriptor::most_bytes) return 0;
  if (is_compressed(std::as_bytes(bytes)) || is_zip(std::as_bytes(bytes))) return 0;  // A file would be unpacked.
  for (const auto made : {numbered_descriptor::kind::file, numbered_descriptor::kind::pipe}) {
    const read_input again = read_as(made, bytes, {.format = "npy"});
    expect(again.error.empty() == in_memory.error.empty(), "memory, file and pipe are refused alike");
    expect(again.elements == in_memory.elements, "memory, file and pipe have the same elements");
  }
  return 0;
}
