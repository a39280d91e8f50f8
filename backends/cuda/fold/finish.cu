#include "backends/cuda/fold/finish.hpp"

#include "backends/cuda/runtime/check.hpp"

namespace fanin::cuda {
namespace {

template <class Reduction, class R>
__global__ void finish_kernel(const std::byte* states, std::size_t count_of_states, std::uint64_t count,
                              device_result<R>* result) {
  using total = typename Reduction::total;
  using partial = typename Reduction::kernel::state;
  auto s = total::identity();
  for (std::size_t i = 0; i < count_of_states; ++i) {
    const auto& from = *reinterpret_cast<const partial*>(states + i * most_state_bytes);
    total::merge(s, static_cast<typename total::state>(from));
  }
  *result = finished<Reduction, R>(s, count);
}

}  // namespace

void enqueue_finish(const request& asked, const std::byte* states, std::size_t count_of_states, void* result,
                    cudaStream_t stream) {
  with_reduction(asked.what, asked.input.type, asked.how, [&]<class Reduction>(Reduction) -> bool {
    return with_result<Reduction>(asked.result, [&]<class R>(R) {
      finish_kernel<Reduction, R>
          <<<1, 1, 0, stream>>>(states, count_of_states, asked.input.count, static_cast<device_result<R>*>(result));
      return true;
    });
  });
  check(cudaGetLastError(), "launching the end of a reduction");
}

}  // namespace fanin::cuda
