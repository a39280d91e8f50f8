// SPDX-License-Identifier: Apache-2.0
// Replaces the CUDA toolkit's header of this name: copies are made at once.
#pragma once

#include <cstddef>
#include <cstring>

inline void __pipeline_memcpy_async(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
inline void __pipeline_commit() {}
inline void __pipeline_wait_prior(std::size_t) {}
