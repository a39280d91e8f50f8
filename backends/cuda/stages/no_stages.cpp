// SPDX-License-Identifier: Apache-2.0
// Stands for the ladder's stages in a build with FANIN_LADDER=OFF.
#include "backends/cuda/stages/stage_fold.hpp"

namespace fanin::cuda {

std::span<const variant_info> stage_variants() { return {}; }

const kernel_launcher* find_stage_fold(const request&) { return nullptr; }

}  // namespace fanin::cuda
