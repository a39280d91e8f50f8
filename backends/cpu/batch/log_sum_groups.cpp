// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/batch/log_sum_groups.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <vector>

#include "backends/cpu/integer_log_sums.hpp"
#include "backends/cpu/leaf.hpp"
#include "backends/finish_state.hpp"

namespace fanin::cpu {
namespace {

using accumulator::scaled_sum;
using log_sum = accumulator::log_sum<double>;
static_assert(term_block <= exponentiated_together);

/// The near elements of a group.
template <class T>
struct near_elements {
  double sum = 0;
  std::uint64_t count = 0;
  T last = 0;

  void add(T x, double exponential) {
    sum += exponential;
    ++count;
    last = x;
  }
};

/// The other elements of a group.
struct far_elements {
  scaled_sum sum = log_sum::identity();
  std::uint64_t count = 0;

  /// -infinity changes no result.
  void add(double x) {
    if (x != -std::numeric_limits<double>::infinity()) log_sum::add(sum, x);
    ++count;
  }
};

/// A single near element is its own reference, so that it is its own result. Several near elements have the reference
/// 0.
template <class T>
scaled_sum total_of(const near_elements<T>& near, const scaled_sum& far) {
  scaled_sum total = far;
  if (near.count == 1) log_sum::add(total, near.last);
  if (near.count > 1) log_sum::merge(total, {0, near.sum});
  return total;
}

/// Adds x[i] to near(i) or far(i), for each i below `count`, which is at most term_block. The elements of `bytes` are
/// integers of 8 bits.
template <class T, class Near, class Far>
void add_each(const T* x, std::size_t count, bool bytes, const Near& near, const Far& far) {
  if (bytes) {
    const double* const exponential = exponentials_of_small() - least_small;
    for (std::size_t i = 0; i < count; ++i) near(i).add(x[i], exponential[static_cast<int>(x[i])]);
    return;
  }
  double exponential[exponentiated_together];
  if (exponentiate_block(x, count, exponential)) {
    for (std::size_t i = 0; i < count; ++i) near(i).add(x[i], exponential[i]);
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (std::fabs(x[i]) <= accumulator::most_near) {
      near(i).add(x[i], accumulator::exponential_of_near(x[i]));
    } else {
      far(i).add(x[i]);
    }
  }
}

template <class T>
class keyed_log_sums final : public group_states {
 public:
  explicit keyed_log_sums(bool bytes) : bytes_(bytes) {}
  void add(const std::uint32_t* group, const void* x, std::size_t count, std::uint64_t) override {
    const auto far = [&](std::size_t i) -> far_elements& {
      if (far_.empty()) far_.resize(near_.size());
      return far_[group[i]];
    };
    near_elements<T>* const near = near_.data();
    add_each(
        static_cast<const T*>(x), count, bytes_, [=](std::size_t i) -> near_elements<T>& { return near[group[i]]; },
        far);
  }
  std::uint64_t count(std::uint32_t group) const override {
    return near_[group].count + (far_.empty() ? 0 : far_[group].count);
  }
  std::uint64_t finish(batch_results& results, std::size_t first_result, std::size_t begin, std::size_t end,
                       std::span<const std::unique_ptr<group_states>>) override {
    std::uint64_t longest = 0;
    for (std::size_t g = begin; g < end; ++g) {
      const std::uint64_t elements = count(static_cast<std::uint32_t>(g));
      group_total state{near_[g], far_.empty() ? far_elements() : far_[g]};
      results.finish(first_result + g, elements, elements, &state);
      longest = std::max(longest, elements);
    }
    return longest;
  }

  /// The state of one group.
  struct group_total {
    near_elements<T> near;
    far_elements far;
  };

 private:
  void reset(std::size_t states) override {
    near_.assign(states, {});
    far_.clear();
  }

  bool bytes_;  ///< whether the elements are integers of 8 bits
  std::vector<near_elements<T>> near_;
  std::vector<far_elements> far_;  ///< empty if all elements are near
};

/// Integers are added as doubles.
template <class F>
auto with_number(element_type type, const F& f) {
  return is_integer(type) || type == element_type::f64 ? f(double()) : f(float());
}
bool are_bytes(element_type type) { return is_integer(type) && byte_size(type) == 1; }
term_kind terms_of(element_type type) { return is_integer(type) ? term_kind::doubles : term_kind::elements; }

template <class T>
using state_of = typename keyed_log_sums<T>::group_total;

void add_in_order(element_type type, const operands& data, std::size_t count, void* state) {
  const term_form form(terms_of(type), type);
  alignas(64) std::byte terms[term_block * sizeof(std::int64_t)];
  with_number(type, [&]<class T>(T) {
    auto& all = *static_cast<state_of<T>*>(state);
    for (std::size_t i = 0; i < count; i += term_block) {
      const std::size_t n = std::min(term_block, count - i);
      const void* const x = form.terms_of(static_cast<const std::byte*>(data.x) + i * byte_size(type), n, terms);
      add_each(
          static_cast<const T*>(x), n, are_bytes(type), [&](std::size_t) -> near_elements<T>& { return all.near; },
          [&](std::size_t) -> far_elements& { return all.far; });
    }
  });
}

}  // namespace

void add_log_sums_in_order(element_type type, arithmetic& f) {
  with_number(type, [&]<class T>(T) {
    using recipe = fanin::recipe<operation::log_sum_exp, method::fast, T>;
    f.state_bytes = sizeof(state_of<T>);
    f.reset = [](void* state) { ::new (state) state_of<T>; };
    f.merge = nullptr;
    f.finish = [](const void* state, std::uint64_t count, element_type result, void* out) {
      const auto& all = *static_cast<const state_of<T>*>(state);
      const scaled_sum total = total_of(all.near, all.far.sum);
      finish_state<recipe>(&total, count, result, out);
    };
    f.bound = bound_of_state<recipe>;
  });
  f.accumulate = with_element(type, []<class T>() -> decltype(f.accumulate) {
    return [](const operands& data, std::size_t count, void* state) { add_in_order(type_of<T>, data, count, state); };
  });
}

group_states_factory log_sum_states(element_type type) {
  return with_number(type, [&]<class T>(T) -> group_states_factory {
    return {sizeof(near_elements<T>), terms_of(type),
            [bytes = are_bytes(type)] { return std::make_unique<keyed_log_sums<T>>(bytes); }};
  });
}

}  // namespace fanin::cpu
