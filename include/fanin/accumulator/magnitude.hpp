// SPDX-License-Identifier: Apache-2.0
// Sums of magnitudes (the L1 norm).
#pragma once

#include <fanin/accumulator/compensated.hpp>
#include <fanin/accumulator/exact_recipes.hpp>
#include <fanin/accumulator/integer.hpp>
#include <fanin/accumulator/sum.hpp>

namespace fanin {

template <std::floating_point T>
struct recipe_for<operation::sum_of_magnitudes, method::fast, T>
    : accumulator::uses<accumulator::plain_sum<T, accumulator::magnitude_term>> {};
template <std::floating_point T>
struct recipe_for<operation::sum_of_magnitudes, method::compensated, T>
    : accumulator::uses<accumulator::compensated_sum<T, accumulator::magnitude_term>> {};
template <std::floating_point T>
struct recipe_for<operation::sum_of_magnitudes, method::exact, T>
    : accumulator::uses<accumulator::exact_sum<T, accumulator::magnitude_term>> {};
template <std::integral T>
struct recipe_for<operation::sum_of_magnitudes, method::fast, T>
    : accumulator::uses<accumulator::integer_sum<T, accumulator::magnitude_term>> {};

}  // namespace fanin
