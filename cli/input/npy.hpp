// SPDX-License-Identifier: Apache-2.0
// The header of NumPy's .npy files, versions 1 to 3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fanin/request.hpp>

#include "cli/input/byte_reader.hpp"

namespace fanin::cli {

struct npy_header {
  element_type type = element_type::f64;
  std::uint64_t count = 0;         ///< product of the shape; 1 for a 0-d array
  std::uint64_t header_bytes = 0;  ///< offset of the data in the file
  std::vector<std::size_t> shape = {};
  bool fortran_order = false;  ///< the first index runs fastest
};

/// Whether input that begins with these bytes claims to be a .npy file.
bool is_npy(std::span<const std::byte> start) noexcept;

/// Reads a header and leaves `in` at the first element. The shape and the order may be any; the product of the shape
/// times the element's size fits in 63 bits.
/// @throws bad_data: wrong magic, unknown version, header cut short or malformed, overflow of the shape, an element
///         type that is not in the catalogue, or not little-endian
npy_header read_npy_header(byte_reader& in);

/// The types of which the user has to name one, because the header says only how many bytes an element has. The
/// type of the header is among them. Empty if the header says the type.
std::vector<element_type> types_to_say(const npy_header& header);

/// The header that describes an array of that shape in C order, version 1, padded to 64 bytes.
std::string write_npy_header(element_type type, std::span<const std::size_t> shape);
/// The header that describes an array of one axis.
inline std::string write_npy_header(element_type type, std::size_t count) {
  return write_npy_header(type, {&count, 1});
}

}  // namespace fanin::cli
