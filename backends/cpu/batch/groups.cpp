// SPDX-License-Identifier: Apache-2.0
// A stable counting sort. Each of several parts of the input counts its keys; sums of the counts say where each part
// puts the elements of each group.
#include "backends/cpu/batch/groups.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <utility>

#include "backends/cpu/batch/index.hpp"
#include "backends/cpu/batch/results.hpp"
#include "backends/threads.hpp"

namespace fanin::cpu {
namespace {

/// Parts of fewer elements are not worth a thread.
constexpr std::size_t least_part = std::size_t{1} << 16;

template <class Key>
class counting_sort {
 public:
  counting_sort(const cpu_backend& backend, unsigned threads, const Key* keys, std::size_t count, std::size_t groups)
      : backend_(backend), keys_(keys), count_(count), groups_(groups) {
    const std::size_t worth = std::min(count / least_part, count / (groups + 1));
    parts_ = std::max<std::size_t>(1, std::min<std::size_t>(std::min(threads, most_threads), worth));
    threads_ = parts_ == 1 ? 1 : startable_threads(static_cast<unsigned>(parts_));
    next_.resize(parts_ * groups);
    first_outside_ = count;
  }

  /// The first element whose key is of no group, or the number of elements.
  std::size_t first_outside() const { return first_outside_; }

  /// Writes the first place of each group, and the end of the last one.
  void count(std::uint64_t* offsets) {
    run([this](std::size_t part, std::size_t i, std::size_t group) {
      if (group < groups_) {
        ++next_[part * groups_ + group];
      } else {
        for (std::size_t known = first_outside_; i < known && !first_outside_.compare_exchange_weak(known, i);) {
        }
      }
    });
    std::uint64_t before = 0;
    for (std::size_t g = 0; g < groups_; ++g) {
      offsets[g] = before;
      for (std::size_t p = 0; p < parts_; ++p) before += std::exchange(next_[p * groups_ + g], before);
    }
    offsets[groups_] = before;
  }

  /// Calls put(i, place) for each element i that is in a group, in the order of the input within each part.
  template <class Put>
  void place(const Put& put) {
    run([&](std::size_t part, std::size_t i, std::size_t group) {
      if (group < groups_) put(i, next_[part * groups_ + group]++);
    });
  }

 private:
  template <class F>
  void run(const F& f) {
    struct job {
      counting_sort& sort;
      const F& f;
    } shared{*this, f};
    const auto run_part = [](void* context, std::size_t part) {
      const job& j = *static_cast<job*>(context);
      const counting_sort& s = j.sort;
      const std::size_t end = s.count_ / s.parts_ * (part + 1);
      for (std::size_t i = s.count_ / s.parts_ * part; i < (part + 1 == s.parts_ ? s.count_ : end); ++i) {
        j.f(part, i, std::size_t{s.keys_[i]});
      }
    };
    backend_.run(threads_, parts_, {run_part, &shared});
  }

  const cpu_backend& backend_;
  const Key* keys_;
  std::size_t count_, groups_, parts_;
  unsigned threads_;
  std::vector<std::uint64_t> next_;
  std::atomic<std::size_t> first_outside_;
};

/// Returns f(word), where a word has the size of an element.
template <class F>
void with_word(std::size_t element_bytes, const F& f) {
  switch (element_bytes) {
    case 1:
      return f(std::uint8_t());
    case 2:
      return f(std::uint16_t());
    case 4:
      return f(std::uint32_t());
    case 8:
      return f(std::uint64_t());
    case 16:
      return f(std::array<std::uint64_t, 2>());
  }
}

}  // namespace

sorted_elements::sorted_elements(const cpu_backend& backend, const request& request, const batch& groups)
    : offsets_(groups.result_count + 1) {
  const input_views& from = groups.inputs;
  const mask_view& mask = from.mask();
  with_index(groups.index, [&]<class Key>(const Key* keys, std::uint64_t largest) {
    const std::size_t in_groups = groups.result_count > largest ? largest + 1 : groups.result_count;
    counting_sort<Key> sort(backend, request.threads, keys, from.count(), in_groups);
    sort.count(offsets_.data());
    std::fill(offsets_.begin() + static_cast<std::ptrdiff_t>(in_groups), offsets_.end(), offsets_[in_groups]);
    if (const std::size_t i = sort.first_outside(); i < from.count() && !groups.drops_others) {
      throw key_of_no_group(i, shown_entry(groups.index, i), groups.result_count);
    }
    const std::size_t kept = offsets_.back();
    with_word(size_of(from.type()), [&]<class Word>(Word) {
      const auto* const x = static_cast<const Word*>(from[0].data);
      const auto* const y = from.size() == 2 ? static_cast<const Word*>(from[1].data) : nullptr;
      auto* const sorted_x = reinterpret_cast<Word*>(copies_[0].get(kept * sizeof(Word)));
      auto* const sorted_y = y != nullptr ? reinterpret_cast<Word*>(copies_[1].get(kept * sizeof(Word))) : nullptr;
      auto* const sorted_mask = mask ? mask_.get(kept) : nullptr;
      if (row_of(request.what).form == result_form::indexed) positions_.resize(kept);
      std::uint64_t* const positions = positions_.data();
      sort.place([=](std::size_t i, std::size_t place) {
        sorted_x[place] = x[i];
        if (sorted_y != nullptr) sorted_y[place] = y[i];
        if (sorted_mask != nullptr) sorted_mask[place] = std::byte{takes_part(mask, i)};
        if (positions != nullptr) positions[place] = i;
      });
      const array_view of_x(sorted_x, kept, from.type());
      inputs_ = y == nullptr ? input_views(of_x) : input_views(of_x, array_view(sorted_y, kept, from.type()));
      if (mask) inputs_ = inputs_.where({sorted_mask, 0, mask_form::bytes});
    });
  });
}

}  // namespace fanin::cpu
