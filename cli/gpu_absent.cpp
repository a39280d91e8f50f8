// The GPU's side of `fanin device` in a build without CUDA.
#include "cli/device/machine.hpp"

namespace fanin::cli {

std::vector<std::vector<fact>> gpu_facts() { return {}; }

}  // namespace fanin::cli
