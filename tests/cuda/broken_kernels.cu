#include "tests/cuda/broken_kernels.hpp"

#include "backends/cuda/launch.cuh"

namespace fanin::test {
namespace {

struct from_plus_zero : accumulator::plain_sum<float> {
  FANIN_HOST_DEVICE static constexpr float identity() { return 0; }
};

using whole = accumulator::plain_sum<float>;

void launch_without_last(const cuda::execution& where, const void* x, std::uint64_t count, void* out) {
  cuda::launch_vectors<whole>(where, x, count > 8192 ? count - 1 : count, out);
}

}  // namespace

const cuda::device_fold starts_at_plus_zero{cuda::launch_vectors<from_plus_zero>,
                                            cuda::longest_chain_of<from_plus_zero>};
const cuda::device_fold drops_an_element{launch_without_last, cuda::longest_chain_of<whole>};

}  // namespace fanin::test
