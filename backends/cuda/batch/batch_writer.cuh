// SPDX-License-Identifier: Apache-2.0
// Writers for the state of a chunk. The state is finished if the result has no other chunk, and otherwise written.
#pragma once

#include <algorithm>

#include <fanin/cuda/launch.cuh>

#include "backends/cuda/batch/items.cuh"
#include "backends/cuda/batch/scaled_sum.cuh"
#include "backends/cuda/fold/finish.hpp"

namespace fanin::cuda {

inline unsigned blocks_for(const execution& where, std::uint64_t turns) {
  // The hardware deals out blocks as others end, so that long results are balanced.
  constexpr std::uint64_t waves = 32;
  return static_cast<unsigned>(
      std::clamp<std::uint64_t>(turns, 1, waves * static_cast<unsigned>(where.multiprocessors)));
}

template <class R>
__device__ void write_result(const batch_output& out, std::uint64_t result, std::uint64_t present,
                             const device_result<R>& found) {
  R* const place = static_cast<R*>(out.results) + result;
  if (takes_empty(out, result, present, found.overflowed != 0)) {
    static_assert(sizeof(R) <= sizeof out.empty);
    std::memcpy(static_cast<void*>(place), out.empty, sizeof(R));
    return;
  }
  *place = found.value;
  if constexpr (fanin::result_traits<R>::form == result_form::indexed) {
    if (out.sorted_places != nullptr && present >= out.least) {
      place->index = out.sorted_places[out.group_offsets[result] + found.value.index];
    }
  }
}

/// Writes the result of `count` elements whose keys have the state `s`.
template <class A>
__device__ void write_result_of_keys(const batch_output& out, std::uint64_t result, std::uint64_t count,
                                     const typename A::state& s) {
  with_value_of_keys<A>(s, count, out.rule, [&](const auto& value) {
    using R = std::remove_cvref_t<decltype(value)>;
    write_result<R>(out, result, count, {value, 0});
  });
}

/// Calls f(recipe) for the recipe of the rule's operation and type, whose accumulator kernels fold as A.
template <class A, method How, class F>
FANIN_HOST_DEVICE void with_kernel_recipe(const element_rule& rule, const F& f) {
  if constexpr (serves_log_sum<A>) {
    if (are_integers(rule)) return f(recipe_of_log_sum<typename A::element>());
  }
  constexpr auto has_accumulator_a = [](auto one) { return std::is_same_v<device_accumulator_of<decltype(one)>, A>; };
  const auto call = [&]<std::size_t... I>(std::index_sequence<I...>) {
    const auto try_type = [&]<class T>() {
      if constexpr (sizeof(T) == sizeof(typename A::element)) {
        if (rule.type == type_of<T>) with_operation<T, How>(rule.what, has_accumulator_a, f);
      }
    };
    (try_type.template operator()<detail::element_at<I>>(), ...);
  };
  call(std::make_index_sequence<element_count>());
}

/// Writes the value of `count` elements whose state is `s`.
template <class A, method How>
__device__ void write_value(const batch_output& out, std::uint64_t result, std::uint64_t count,
                            const typename A::state& s) {
  with_kernel_recipe<A, How>(out.rule, [&](auto one) {
    using Recipe = decltype(one);
    write_result(out, result, count,
                 finished<Recipe, typename Recipe::result>(device_recipe<Recipe>::total(s), count));
  });
}
/// The same, as a function that is not inlined. Dispersions and norms of integers end with long code.
template <class A, method How>
__device__ __noinline__ void write_long_value(const batch_output& out, std::uint64_t result, std::uint64_t count,
                                              typename A::state s) {
  write_value<A, How>(out, result, count, s);
}

/// Finishes states where they are formed.
template <class A, method How>
struct batch_writer : batch_output {
  __device__ void operator()(const batch_item& item, std::uint64_t absent, const typename A::state& s) const {
    const std::uint64_t count = item.end - item.begin - absent;
    if (absent != 0) atomicAdd(&status->absent, static_cast<unsigned long long>(absent));
    if (states != nullptr) {
      static_cast<typename A::state*>(states)[item.state] = s;
      present[item.state] = count;
    } else if constexpr (is_keyed<A>) {
      write_result_of_keys<A>(*this, item.result, count, s);
    } else if constexpr (adds_integer_moments<A>) {
      write_long_value<A, How>(*this, item.result, count, s);
    } else {
      write_value<A, How>(*this, item.result, count, s);
    }
  }
};

/// A NaN that no reduction gives. It marks a result whose state did not fit.
template <class R>
__device__ R refold_mark() {
  return detail::from_bits<R>(detail::float_format<R>::quiet_nan | 1);
}

/// Calls f(R()) for the type R of the results of A. R is the type of the elements, or the type of the numbers that
/// are added.
template <class A, class F>
__device__ void with_rounded_type(const batch_output& out, F f) {
  if constexpr (sizeof(typename A::element) == 2) {
    if (out.has_type_of_elements) return out.rule.type == element_type::bf16 ? f(bf16()) : f(f16());
  }
  f(typename A::number());
}

/// The result of `count` elements, whose state fits.
template <class A, class R>
__device__ device_result<R> scaled_result(const batch_output& out, const typename A::state& s, std::uint64_t count) {
  return {A::template finish<R>(s, count, A::use_of(out.value, 0)), 0};
}

/// Writes states of few words. A state that does not fit is marked, and so is its result.
template <class A>
struct scaled_writer : batch_output {
  __device__ void operator()(const batch_item& item, std::uint64_t absent, const typename A::state& s) const {
    const std::uint64_t count = item.end - item.begin - absent;
    if (absent != 0) atomicAdd(&status->absent, static_cast<unsigned long long>(absent));
    if (!s.fits()) status->unfit = call;
    if (states != nullptr) {
      static_cast<typename A::state*>(states)[item.state] = s;
      present[item.state] = count;
      return;
    }
    with_rounded_type<A>(*this, [&]<class R>(R) {
      if (s.fits()) {
        write_result(*this, item.result, count, scaled_result<A, R>(*this, s, count));
      } else {
        static_cast<R*>(results)[item.result] = refold_mark<R>();
      }
    });
  }
};

/// Writes states, and never results: a second kernel finishes the states, since that takes long code. Notes a state
/// that does not fit.
template <class A>
struct state_writer : batch_output {
  __device__ void operator()(const batch_item& item, std::uint64_t absent, const typename A::state& s) const {
    if (absent != 0) atomicAdd(&status->absent, static_cast<unsigned long long>(absent));
    if constexpr (has_few_words<A>) {
      if (!s.fits()) status->unfit = call;
    }
    static_cast<typename A::state*>(states)[item.state] = s;
    present[item.state] = item.end - item.begin - absent;
  }
};

}  // namespace fanin::cuda
