// Any bytes at all: the .npy reader returns elements or throws bad_data, and touches nothing else.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "cli/input/npy.hpp"
#include "cli/input/source.hpp"
#include "cli/kit/errors.hpp"

using namespace fanin::cli;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  byte_reader in(std::as_bytes(std::span(data, size)), "fuzz");
  try {
    const npy_header header = read_npy_header(in);
    const auto blocks = binary_blocks(in, header.type, header.count, true);
    std::uint64_t count = 0;
    for (fanin::array_view block = blocks->next(); block.count > 0; block = blocks->next()) {
      const auto* bytes = static_cast<const volatile unsigned char*>(block.data);
      for (std::size_t i = 0; i < block.bytes(); ++i) (void)bytes[i];
      count += block.count;
    }
    const std::uint64_t promised = header.header_bytes + count * size_of(header.type);
    if (count != header.count || promised != size) std::abort();
  } catch (const bad_data&) {
  }
  return 0;
}
