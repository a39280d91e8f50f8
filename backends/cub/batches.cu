// SPDX-License-Identifier: Apache-2.0
// Rows and segments are one call of cub::DeviceSegmentedReduce, groups a sort and one of
// cub::DeviceReduce::ReduceByKey.
#include "backends/cub/batches.cuh"

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>

namespace fanin::cub_backend {
namespace {

/// The place at which the elements of a result begin, or end, among the elements that the iterators count.
struct border_of_result {
  const cuda::batch_elements* all;
  bool is_end;
  __device__ std::int64_t operator()(std::int64_t i) const {
    if (all->kind == layout::rows) return (i + is_end) * static_cast<std::int64_t>(all->length);
    const cuda::segment_place place = cuda::place_of_segment(*all, all->first + i);
    return static_cast<std::int64_t>(place.begin + (is_end ? place.length : 0));
  }
};

template <class A>
class segmented final : public batch_reference<A> {
 public:
  using batch_reference<A>::batch_reference;
  std::size_t scratch_bytes(const cuda::execution&, std::uint64_t) const override {
    std::size_t bytes = 0;
    reduce(nullptr, bytes, {}, nullptr, nullptr, nullptr);
    return batch_scratch::fixed_bytes + bytes;
  }

 private:
  static void reduce(void* memory, std::size_t& bytes, const cuda::batch_elements& all,
                     const cuda::batch_elements* there, typename A::state* states, cudaStream_t stream) {
    const thrust::counting_iterator<std::uint64_t> elements(0);
    const thrust::counting_iterator<std::int64_t> results(0);
    cuda::check(
        cub::DeviceSegmentedReduce::Reduce(
            memory, bytes, thrust::make_transform_iterator(elements, states_of<A>(all, there)), states,
            static_cast<int>(all.results), thrust::make_transform_iterator(results, border_of_result{there, false}),
            thrust::make_transform_iterator(results, border_of_result{there, true}), merged<A>(), A::identity(),
            stream),
        "cub::DeviceSegmentedReduce");
  }
  void form_states(const cuda::execution& where, const batch_scratch& scratch, const cuda::batch_elements& all,
                   typename A::state* states) const override {
    std::size_t bytes = scratch.rest_bytes;
    reduce(scratch.rest, bytes, all, scratch.elements, states, where.stream);
  }
};

template <class A>
class by_key final : public batch_reference<A> {
 public:
  using batch_reference<A>::batch_reference;
  bool ordered() const override { return false; }
  std::size_t scratch_bytes(const cuda::execution&, std::uint64_t count) const override {
    std::size_t bytes = 0;
    reduce(nullptr, bytes, {}, count, nullptr, nullptr, nullptr, nullptr);
    return batch_scratch::fixed_bytes + bytes;
  }

 private:
  static void reduce(void* memory, std::size_t& bytes, const cuda::batch_elements& all, std::uint64_t count,
                     const cuda::batch_elements* there, std::uint64_t* run_count, typename A::state* states,
                     cudaStream_t stream) {
    const thrust::counting_iterator<std::uint64_t> elements(0);
    const keyed_state_of_element<A> make{{there}, states_of<A>(all, there)};
    cuda::check(cub::DeviceReduce::ReduceByKey(
                    memory, bytes, thrust::make_transform_iterator(elements, all.keys),
                    thrust::make_discard_iterator(), thrust::make_transform_iterator(elements, make),
                    thrust::make_tabulate_output_iterator(state_placer<A>{states, all.results}), run_count,
                    keyed_merged<A>(), static_cast<std::int64_t>(count), stream),
                "cub::DeviceReduce::ReduceByKey");
  }
  void form_states(const cuda::execution& where, const batch_scratch& scratch, const cuda::batch_elements& all,
                   typename A::state* states) const override {
    std::size_t bytes = scratch.rest_bytes;
    reduce(scratch.rest, bytes, all, all.count, scratch.elements, scratch.run_count, states, where.stream);
  }
};

}  // namespace

const cuda::kernel_launcher* find_batch_kernel(const request& request) {
  return request.kind == layout::groups ? find_batches<by_key>(request) : find_batches<segmented>(request);
}

}  // namespace fanin::cub_backend
