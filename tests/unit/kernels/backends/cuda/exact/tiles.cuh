// SPDX-License-Identifier: Apache-2.0
// Replaces the header of this name. Its tiles are dealt out and copied by instructions of a device; the tests have
// tiles of their own.
#pragma once

#include "backends/cuda/exact/terms.cuh"
