// SPDX-License-Identifier: Apache-2.0
// Reductions over MPI that are under way.
#pragma once

#include <mpi.h>

#include <memory>
#include <utility>
#include <vector>

#include <fanin/mpi/exchange.hpp>
#include <fanin/mpi/inputs.hpp>
#include <fanin/result.hpp>

namespace fanin::mpi {

/// A reduction that was started. Its value comes later. The elements may be changed after the start. All ranks
/// start their reductions in the same order, as MPI requires. They may wait for them in any order. The destructor
/// waits, too. Movable.
template <class R>
class [[nodiscard]] pending {
 public:
  pending(operation what, const detail::inputs_of_rank& inputs, const place& where, const options& chosen)
      : state_(std::make_unique<state>(what, inputs, where, chosen)) {}
  pending(pending&&) noexcept = default;
  pending& operator=(pending&&) noexcept = default;

  /// Whether the value is there, so that wait() does not wait.
  bool test() {
    int done = 0;
    detail::check(MPI_Test(&state_->started, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
  }

  /// The value and this rank's report. Call wait() once. @throws as the blocking call
  result<R> wait() {
    const std::unique_ptr<state> held = std::move(state_);
    detail::check(MPI_Wait(&held->started, MPI_STATUS_IGNORE), "MPI_Wait");
    result<R> reached;
    reached.report = std::move(held->done);
    if (held->sent.finish(held->where)) from_lanes(held->what, held->type, held->reduction(), reached.value);
    return reached;
  }

 private:
  struct state {
    state(operation what_, const detail::inputs_of_rank& inputs, const place& where_, const options& chosen)
        : what(what_),
          type(inputs.views.type()),
          where(where_),
          format(lanes_of(what_, type)),
          lanes(detail::sent_lanes(format.count) + detail::status_lanes),
          sent(lanes, format.count, format.merge,
               detail::signature_of(what, type, type_of<typename result_traits<R>::number>, chosen.nan),
               [&](std::span<std::int64_t> own) {
                 inputs.check();
                 done = to_lanes(what, inputs.views, own, chosen);
               }),
          started(sent.start(where)) {}
    ~state() { MPI_Wait(&started, MPI_STATUS_IGNORE); }
    state(const state&) = delete;
    state& operator=(const state&) = delete;
    std::span<const std::int64_t> reduction() const { return {lanes.data(), format.count}; }

    operation what;
    element_type type;
    place where;
    lane_format format;
    report done;
    std::vector<std::int64_t> lanes;
    detail::exchange sent;
    MPI_Request started;
  };
  std::unique_ptr<state> state_;
};

}  // namespace fanin::mpi
