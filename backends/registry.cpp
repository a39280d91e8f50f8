// SPDX-License-Identifier: Apache-2.0
// The list of all backends, in order of preference. No other file names them all.
#include <fanin/backend.hpp>

#include "backends/absent.hpp"
#include "backends/serial/serial.hpp"
#if FANIN_HAS_CUDA
#include "backends/cuda/cuda.hpp"
#endif
#if FANIN_HAS_REFERENCES
#include "backends/cub/cub.hpp"
#include "backends/thrust/thrust.hpp"
#endif
#if FANIN_HAS_OPENMP
#include "backends/openmp/openmp.hpp"
#endif
#if FANIN_HAS_TBB
#include "backends/tbb/tbb.hpp"
#endif

namespace fanin {

std::span<const backend* const> backends() noexcept {
#if FANIN_HAS_CUDA
  static const cuda::backend& cuda = cuda::instance();
#else
  static const absent_backend cuda(
      "cuda", "this build has no device code: configure it with -DFANIN_CUDA=ON, which needs nvcc");
#endif
#if FANIN_HAS_REFERENCES
  static const cub_backend::backend cub;
  static const thrust_backend::backend thrust;
#else
  static constexpr std::string_view without_references =
      "this build has no references: configure it with -DFANIN_CUDA=ON and -DFANIN_REFERENCES=ON";
  static const absent_backend cub("cub", without_references);
  static const absent_backend thrust("thrust", without_references);
#endif
#if FANIN_HAS_TBB
  static const tbb_backend::backend tbb;
#else
  static const absent_backend tbb("tbb", "this build was configured without oneTBB");
#endif
#if FANIN_HAS_OPENMP
  static const openmp::backend openmp;
#else
  static const absent_backend openmp("openmp", "this build was configured without OpenMP");
#endif
  static const serial::backend serial;
  static const backend* const all[] = {&cuda, &cub, &thrust, &tbb, &openmp, &serial};
  return all;
}

}  // namespace fanin
