// SPDX-License-Identifier: Apache-2.0
// Each batch is one call of thrust::reduce_by_key, of groups after a sort.
#include "backends/thrust/launch.cuh"

#include <thrust/reduce.h>

#include "backends/cub/batches.cuh"

namespace fanin::thrust_backend {
namespace {

template <class A>
class by_key final : public cub_backend::batch_reference<A> {
  using base = cub_backend::batch_reference<A>;

 public:
  using base::base;
  bool ordered() const override { return false; }
  /// Thrust does not say how much it takes: a state and a status for each tile of elements, which has more than 64.
  std::size_t scratch_bytes(const cuda::execution&, std::uint64_t count) const override {
    return cub_backend::batch_scratch::fixed_bytes + (std::size_t{1} << 20) + 2 * count;
  }

 private:
  void form_states(const cuda::execution& where, const cub_backend::batch_scratch& scratch,
                   const cuda::batch_elements& all, typename A::state* states) const override {
    cuda::execution rest = where;
    rest.scratch = scratch.rest;
    rest.scratch_bytes = scratch.rest_bytes;
    scratch_allocator allocator(rest);
    const thrust::counting_iterator<std::uint64_t> elements(0);
    const cub_backend::result_of_element result{scratch.elements};
    const cub_backend::keyed_state_of_element<A> make{result, cub_backend::states_of<A>(all, scratch.elements)};
    const auto keys = thrust::make_transform_iterator(elements, result);
    try {
      thrust::reduce_by_key(thrust::cuda::par(allocator).on(where.stream), keys,
                            keys + static_cast<std::ptrdiff_t>(cub_backend::elements_of(all)),
                            thrust::make_transform_iterator(elements, make), thrust::make_discard_iterator(),
                            thrust::make_tabulate_output_iterator(cub_backend::state_placer<A>{states, all.results}),
                            thrust::equal_to<std::uint32_t>(), cub_backend::keyed_merged<A>());
    } catch (const thrust::system_error& failure) {
      static_cast<void>(cudaGetLastError());
      throw device_error(std::string("thrust::reduce_by_key: ") + failure.what());
    }
  }
};

}  // namespace

const cuda::kernel_launcher* find_batch_kernel(const request& request) {
  return cub_backend::find_batches<by_key>(request);
}

}  // namespace fanin::thrust_backend
