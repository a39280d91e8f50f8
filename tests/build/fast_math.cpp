// SPDX-License-Identifier: Apache-2.0
// Compiled by a test with -ffast-math, which must be refused.
#include <fanin/accumulator/exact.hpp>
