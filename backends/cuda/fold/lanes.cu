// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/fold/lanes.hpp"

#include <fanin/cuda/launch.cuh>

#include "backends/cuda/fold/ending.hpp"
#include "backends/cuda/fold/lanes.cuh"
#include "backends/exact_states.hpp"

namespace fanin::cuda {

void enqueue_lanes_of(operation what, element_type type, const lane_source& run, std::int64_t* lanes,
                      const device_code::execution& where) {
  with_exact_state(what, type, [&]<class T, int Power>() {
    device_code::launch_overlapped(where, 1, lane_threads, 0, lanes_kernel<T, Power>, run, lanes);
  });
}

void enqueue_value_of_lanes(operation what, element_type type, const std::int64_t* lanes, element_type result,
                            void* out, const device_code::execution& where) {
  with_exact_state(what, type, [&]<class T, int Power>() {
    device_code::launch_overlapped(where, 1, 32, 0, value_of_lanes_kernel<T, Power>, lanes, row_of(what).value,
                                   value_place{out, format_of(result)});
  });
}

}  // namespace fanin::cuda
