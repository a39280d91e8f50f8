// SPDX-License-Identifier: Apache-2.0
// Ranks add their vectors element by element. A vector has a part for each rank. Each rank gets its part of every
// other rank's vector, sums these parts, and sends the sums to the other ranks. A part is sent in pieces. While
// the context's second stream sums a piece, the caller's stream exchanges the next piece.
#pragma once

#include <nccl.h>

#include <algorithm>
#include <string>

#include <fanin/cuda/check.cuh>
#include <fanin/device.hpp>

namespace fanin::nccl {

/// @throws device_error with NCCL's description, unless `code` is ncclSuccess
inline void check(ncclResult_t code, const char* call) {
  if (code != ncclSuccess) throw device_error(std::string(call) + ": " + ncclGetErrorString(code));
}

/// The calls of NCCL between the construction of an object and end() are one group. The destructor ends a group
/// that an exception leaves open. Otherwise all later calls of the thread would belong to the group.
class call_group {
 public:
  call_group() { check(ncclGroupStart(), "ncclGroupStart"); }
  ~call_group() {
    if (is_open_) ncclGroupEnd();
  }
  call_group(const call_group&) = delete;
  call_group& operator=(const call_group&) = delete;
  void end() {
    is_open_ = false;
    check(ncclGroupEnd(), "ncclGroupEnd");
  }

 private:
  bool is_open_ = true;
};

inline std::size_t ranks_of(ncclComm_t comm) {
  int count = 0;
  check(ncclCommCount(comm, &count), "ncclCommCount");
  return static_cast<std::size_t>(count);
}
inline std::size_t rank_in(ncclComm_t comm) {
  int rank = 0;
  check(ncclCommUserRank(comm, &rank), "ncclCommUserRank");
  return static_cast<std::size_t>(rank);
}

/// Elements of vectors that ranks can add.
template <class T>
concept each_element = element<T> && floating<T> && sizeof(T) > 1;

/// An event that one stream records and another stream waits for.
class stream_event {
 public:
  stream_event() { device_code::check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreate"); }
  ~stream_event() { static_cast<void>(cudaEventDestroy(event_)); }
  stream_event(const stream_event&) = delete;
  stream_event& operator=(const stream_event&) = delete;
  void record(cudaStream_t stream) { device_code::check(cudaEventRecord(event_, stream), "cudaEventRecord"); }
  void hold_up(cudaStream_t stream) {
    device_code::check(cudaStreamWaitEvent(stream, event_), "cudaStreamWaitEvent");
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// One exchange. x has `count` elements, and the part of rank p begins at element p * part. The sums of the
/// caller's own part go to `out`. The context's device is the current device.
template <each_element T>
class vector_exchange {
 public:
  vector_exchange(T* x, T* out, std::size_t part, std::size_t count, device_context& context, ncclComm_t comm)
      : x_(x),
        out_(out),
        part_(part),
        count_(count),
        work_(context.work()),
        comm_(comm),
        ranks_(ranks_of(comm)),
        rank_(rank_in(comm)),
        piece_(piece_of(part, ranks_)) {
    if (count > 0 && (x == nullptr || out == nullptr))
      throw invalid_argument("a vector is null, but its count is not 0");
    device_code::check_reach(x, count * sizeof(T), context.device(), "the vector");
    device_code::check_reach(out, length(rank_, 0, part) * sizeof(T), context.device(), "the sums");
    const auto where = work_.where(2 * (ranks_ - 1) * row_bytes());
    stream_ = where.stream;
    received_ = static_cast<std::byte*>(where.scratch);
  }

  /// The number of elements in a part if `ranks` ranks share n evenly. The parts are multiples of 16 bytes.
  static std::size_t even_part(std::size_t n, std::size_t ranks) {
    return (n / ranks + (n % ranks > 0 ? 1 : 0) + width - 1) / width * width;
  }

  /// Enqueues the exchange. With `gather` the sums of every rank go to its part of x on all ranks.
  void run(bool gather) {
    const std::size_t steps = (part_ + piece_ - 1) / piece_;
    const bool beside = steps > 1;  // A single piece is not summed beside another exchange.
    const cudaStream_t summing = beside ? work_.second_stream() : stream_;
    stream_event arrived, summed[2];
    for (std::size_t step = 0; step < steps + 2; ++step) {
      if (step >= 2) summed[step % 2].hold_up(stream_);
      call_group group;
      if (step < steps) scatter(step);
      if (step >= 2 && gather) all_gather_step(step - 2);
      group.end();
      if (step >= steps) continue;
      arrived.record(stream_);
      arrived.hold_up(summing);
      sum(step, beside);
      summed[step % 2].record(summing);
    }
  }

 private:
  /// The number of elements in a piece. A rank then receives at most most_received bytes at once.
  static std::size_t piece_of(std::size_t part, std::size_t ranks) {
    const std::size_t most = most_received / sizeof(T) / std::max<std::size_t>(ranks - 1, 1) / width * width;
    return std::max(std::min(most, even_part(part, 1)), width);
  }
  static constexpr std::size_t width = 16 / sizeof(T), most_received = std::size_t{1} << 25;

  /// The number of elements in rank p's part from `begin` on, but at most `most`.
  std::size_t length(std::size_t p, std::size_t begin, std::size_t most) const {
    const std::size_t first = p * part_, end = std::min(count_, first + part_);
    return first + begin < end ? std::min(most, end - first - begin) : 0;
  }
  std::size_t length(std::size_t p, std::size_t step) const { return length(p, step * piece_, piece_); }
  T* piece(std::size_t p, std::size_t step) const { return x_ + p * part_ + step * piece_; }
  T* sums(std::size_t step) const { return out_ + step * piece_; }
  /// The memory for the piece that rank p sends in this step. It is as far from a boundary of 16 bytes as the
  /// caller's own piece.
  std::byte* row(std::size_t p, std::size_t step) const {
    const std::size_t other = p < rank_ ? p : p - 1;
    return received_ + (step % 2 * (ranks_ - 1) + other) * row_bytes() +
           reinterpret_cast<std::uintptr_t>(piece(rank_, step)) % 16;
  }
  std::size_t row_bytes() const { return piece_ * sizeof(T) + 16; }

  template <class F>
  void for_each_other(F f) const {
    for (std::size_t i = 1; i < ranks_; ++i) f((rank_ + i) % ranks_);
  }
  void send(const void* from, std::size_t count, std::size_t to) const {
    if (count > 0)
      check(ncclSend(from, count * sizeof(T), ncclUint8, static_cast<int>(to), comm_, stream_), "ncclSend");
  }
  void receive(void* to, std::size_t count, std::size_t from) const {
    if (count > 0)
      check(ncclRecv(to, count * sizeof(T), ncclUint8, static_cast<int>(from), comm_, stream_), "ncclRecv");
  }
  void scatter(std::size_t step) const {
    for_each_other([&](std::size_t p) {
      send(piece(p, step), length(p, step), p);
      receive(row(p, step), length(rank_, step), p);
    });
  }
  void all_gather_step(std::size_t step) const {
    for_each_other([&](std::size_t p) {
      send(sums(step), length(rank_, step), p);
      receive(piece(p, step), length(p, step), p);
    });
  }
  void sum(std::size_t step, bool on_second_stream) {
    const std::size_t first_other = rank_ == 0 ? 1 : 0;
    work_.enqueue_vector_sums(
        {type_of<T>, length(rank_, step), piece(rank_, step), ranks_ > 1 ? row(first_other, step) : nullptr,
         static_cast<unsigned>(ranks_ - 1), row_bytes(), sums(step)},
        on_second_stream);
  }

  T *x_, *out_;
  std::size_t part_, count_;
  device_work& work_;
  ncclComm_t comm_;
  std::size_t ranks_, rank_, piece_;
  cudaStream_t stream_ = nullptr;
  std::byte* received_ = nullptr;
};

}  // namespace fanin::nccl
