// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda/ladder_broken.hpp"

#include "backends/cuda/stages/16_warp_shuffle.cuh"
#include "backends/cuda/stages/ladder_row.cuh"

namespace fanin::test {
namespace {

using cuda::most_threads;
using cuda::stage_arguments;

template <class A>
__global__ void __launch_bounds__(most_threads) drops_last_kernel(stage_arguments<A> a) {
  const cuda::stopwatch watch(a.cycles);
  const auto s = threadIdx.x + 1 < blockDim.x ? cuda::load_one<A>(a) : A::identity();
  cuda::store_partial<A>(a, watch, cuda::block_fold<A>(s));
}

struct drops_last : cuda::stage_defaults {
  static constexpr cuda::stage_text text{0, "drops-last", "", "forgets the last element of each block"};
  template <class A>
  static auto kernel(unsigned) {
    return &drops_last_kernel<A>;
  }
};

template <class A>
__global__ void __launch_bounds__(most_threads) reads_on_kernel(stage_arguments<A> a) {
  const cuda::stopwatch watch(a.cycles);
  a.count = std::uint64_t{gridDim.x} * blockDim.x;
  cuda::store_partial<A>(a, watch, cuda::block_fold<A>(cuda::load_one<A>(a)));
}

struct reads_on : cuda::stage_defaults {
  static constexpr cuda::stage_text text{0, "reads-on", "", "fills its last block with what lies behind the input"};
  template <class A>
  static auto kernel(unsigned) {
    return &reads_on_kernel<A>;
  }
};

template <class Stage>
cuda::stage_info make() {
  auto row = cuda::make_row<Stage>();
  row.kernels = {cuda::make_kernels<Stage, float>(), cuda::make_kernels<Stage, double>(),
                 cuda::make_kernels<Stage, std::int32_t>()};
  return row;
}

}  // namespace

std::vector<cuda::stage_info> broken_stages() { return {make<drops_last>(), make<reads_on>()}; }

}  // namespace fanin::test
