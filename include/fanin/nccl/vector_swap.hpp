// SPDX-License-Identifier: Apache-2.0
// Two ranks add their vectors element by element. They send each other whole vectors, and each rank adds both
// vectors. vector_exchange.hpp would send as many bytes, in parts and sums. Here no message waits for a sum, so only
// the last sums take time after the messages.
#pragma once

#include <fanin/nccl/vector_exchange.hpp>

namespace fanin::nccl {

/// The sums of x[0..count) of both ranks, in place. The context's device is the current one.
template <each_element T>
class vector_swap {
 public:
  vector_swap(T* x, std::size_t count, device_context& context, ncclComm_t comm)
      : x_(x), count_(count), work_(context.work()), comm_(comm), peer_(1 - static_cast<int>(rank_in(comm))) {
    if (count > 0 && x == nullptr) throw invalid_argument("a vector is null, but its count is not 0");
    device_code::check_reach(x, count * sizeof(T), context.device(), "the vector");
    const std::size_t first = next_piece(count), second = next_piece(count - first);
    const std::size_t offset = reinterpret_cast<std::uintptr_t>(x) % 16;
    const std::size_t first_bytes = (first * sizeof(T) + 15) / 16 * 16 + 16;
    const auto where = work_.where(first_bytes + second * sizeof(T) + 32);
    stream_ = where.stream;
    auto* const received = static_cast<std::byte*>(where.scratch);
    received_[0] = received + offset;
    received_[1] = received + first_bytes + offset;
  }

  /// Enqueues the messages and the sums. The last piece is summed on the caller's stream, because no message
  /// follows it.
  void run() {
    const cudaStream_t summing = work_.second_stream();
    stream_event arrived, summed[2];
    std::size_t step = 0;
    for (std::size_t begin = 0; begin < count_; ++step) {
      const std::size_t length = next_piece(count_ - begin);
      const bool last = begin + length == count_;
      if (step >= 2) summed[step % 2].hold_up(stream_);
      call_group group;
      check(ncclSend(x_ + begin, length * sizeof(T), ncclUint8, peer_, comm_, stream_), "ncclSend");
      check(ncclRecv(received_[step % 2], length * sizeof(T), ncclUint8, peer_, comm_, stream_), "ncclRecv");
      group.end();
      if (!last) {
        arrived.record(stream_);
        arrived.hold_up(summing);
      }
      work_.enqueue_vector_sums({type_of<T>, length, x_ + begin, received_[step % 2], 1, 0, x_ + begin}, !last);
      if (!last) summed[step % 2].record(summing);
      begin += length;
    }
    if (step >= 2) summed[step % 2].hold_up(stream_);  // waits for the sums of the last piece but one
  }

 private:
  /// The next piece of `left` elements. Each message costs some 25 us (two H100s), so pieces are long. The last
  /// sum waits for its message, so the last pieces are short.
  static std::size_t next_piece(std::size_t left) {
    constexpr std::size_t mebi = (std::size_t{1} << 20) / sizeof(T);
    if (left <= 16 * mebi) return left;
    return left < 128 * mebi ? left / 64 * 48 : 96 * mebi;
  }

  T* x_;
  std::size_t count_;
  device_work& work_;
  ncclComm_t comm_;
  int peer_;
  cudaStream_t stream_ = nullptr;
  std::byte* received_[2] = {};  ///< as far from a boundary of 16 bytes as x
};

}  // namespace fanin::nccl
