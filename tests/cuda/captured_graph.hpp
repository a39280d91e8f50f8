// SPDX-License-Identifier: Apache-2.0
// A CUDA graph of the work that a test enqueues.
#pragma once

#include <cuda_runtime_api.h>

#include "base/cuda/handles.hpp"

namespace fanin::test {

/// The graph of the work that enqueue() enqueues to the stream.
class captured_graph {
 public:
  template <class F>
  captured_graph(cudaStream_t stream, const F& enqueue) : stream_(stream) {
    cuda::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
    enqueue();
    cuda::check(cudaStreamEndCapture(stream, &graph_), "cudaStreamEndCapture");
    cuda::check(cudaGraphInstantiate(&ready_, graph_, 0), "cudaGraphInstantiate");
  }
  captured_graph(const captured_graph&) = delete;
  captured_graph& operator=(const captured_graph&) = delete;
  ~captured_graph() {
    cudaGraphExecDestroy(ready_);
    cudaGraphDestroy(graph_);
  }
  /// Runs the graph when copies from pageable memory, which other streams may still make, are done, and waits for it.
  void replay() const {
    cuda::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    cuda::check(cudaGraphLaunch(ready_, stream_), "cudaGraphLaunch");
    cuda::check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }

 private:
  cudaStream_t stream_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t ready_ = nullptr;
};

}  // namespace fanin::test
