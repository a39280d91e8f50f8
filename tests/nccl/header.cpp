// SPDX-License-Identifier: Apache-2.0
// The header compiles alone, and twice.
#include <fanin/nccl.hpp>
