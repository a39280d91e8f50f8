// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/batch/groups.hpp"

#include <algorithm>

#include "backends/cpu/batch/counting_sort.hpp"
#include "backends/cpu/batch/results.hpp"
#include "backends/cpu/batch/word.hpp"

namespace fanin::cpu {

sorted_elements::sorted_elements(const cpu_backend& backend, const request& request, const batch& groups)
    : offsets_(groups.result_count + 1) {
  const input_views& from = groups.inputs;
  const mask_view& mask = from.mask();
  with_index(groups.index, [&]<class Key>(const index_entries<Key>& keys, std::uint64_t largest) {
    const std::size_t in_groups = groups.result_count > largest ? largest + 1 : groups.result_count;
    counting_sort<Key> sort(backend, request.threads, keys, from.count(), in_groups, 0);
    sort.count(offsets_.data());
    std::fill(offsets_.begin() + static_cast<std::ptrdiff_t>(in_groups), offsets_.end(), offsets_[in_groups]);
    if (sort.first_outside() < from.count() && !groups.drops_others) refuse_key(groups, sort.first_outside());
    const std::size_t kept = offsets_.back();
    with_word(byte_size(from.type()), [&]<class Word>(Word) {
      const auto* const x = static_cast<const Word*>(from[0].data);
      const auto* const y = from.size() == 2 ? static_cast<const Word*>(from[1].data) : nullptr;
      auto* const sorted_x = reinterpret_cast<Word*>(copies_[0].get(kept * sizeof(Word)));
      auto* const sorted_y = y != nullptr ? reinterpret_cast<Word*>(copies_[1].get(kept * sizeof(Word))) : nullptr;
      auto* const sorted_mask = mask ? mask_.get(kept) : nullptr;
      if (row_of(request.what).form == result_form::indexed) positions_.resize(kept);
      std::uint64_t* const positions = positions_.data();
      sort.place([=](std::size_t i, std::size_t place, std::size_t) {
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
