// SPDX-License-Identifier: Apache-2.0
// The ladder's stages as variants of the backend `cuda`.
#pragma once

#include <span>

#include <fanin/backend.hpp>

#include "backends/cuda/runtime/kernel_launcher.hpp"

namespace fanin::cuda {

/// A row for each stage, in the ladder's order.
std::span<const variant_info> stage_variants();

/// The fold of the stage that request.variant names; null if there is no such stage, or if it does not serve
/// operation, type or method.
const kernel_launcher* find_stage_fold(const request& request);

}  // namespace fanin::cuda
