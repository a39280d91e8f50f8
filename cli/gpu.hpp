// SPDX-License-Identifier: Apache-2.0
// The command's functions that need the CUDA runtime. This header includes no CUDA header, and only declares the
// types.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace fanin {
struct array_view;
namespace measure {
class device_copy;
}
}  // namespace fanin

namespace fanin::cli {

enum class experiment : std::uint8_t;
struct fact;
struct lab_page;
struct ladder;
struct ladder_question;

/// The properties of each CUDA device, and its read and copy rates, which gpu_facts() measures. Defined in builds
/// with CUDA only. @throws out_of_memory, device_error
std::vector<std::vector<fact>> gpu_facts();

/// The functions that only a build with CUDA defines.
struct gpu_functions {
  ladder (*measure_ladder)(const ladder_question& question);
  lab_page (*run_experiment)(experiment which, int device);
  std::vector<std::vector<fact>> (*gpu_facts)();
  std::unique_ptr<measure::device_copy> (*make_device_copy)(const array_view& host);
  std::string (*device_name)();
};

/// Returns the functions, also if there is no device. @throws backend_unavailable in a build without CUDA
const gpu_functions& require_gpu();

}  // namespace fanin::cli
