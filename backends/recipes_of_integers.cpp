// SPDX-License-Identifier: Apache-2.0
#include "backends/recipe_functions_of.hpp"

namespace fanin {

template const recipe_functions* find_functions<true>(operation what, element_type type, method how);

}  // namespace fanin
