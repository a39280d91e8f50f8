// SPDX-License-Identifier: Apache-2.0
#include "cli/input/npz.hpp"

#include <unistd.h>
#include <zip.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/words.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/text.hpp"

namespace fanin::cli {

namespace {

using archive = std::unique_ptr<zip_t, decltype(&::zip_discard)>;

archive open_archive(int fd, const std::string& name) {
  const int own = ::dup(fd);
  if (own < 0) throw bad_data(fmt::format("{}: {}", name, std::strerror(errno)));
  int code = 0;
  archive opened(::zip_fdopen(own, 0, &code), &::zip_discard);
  if (opened) return opened;
  ::close(own);
  zip_error_t error;
  ::zip_error_init_with_code(&error, code);
  const std::string problem = ::zip_error_strerror(&error);
  ::zip_error_fini(&error);
  throw bad_data(fmt::format("{}: damaged zip archive: {}", name, problem));
}

/// The names without .npy, as numpy.savez() got them.
std::vector<std::string> members_of(zip_t* opened) {
  std::vector<std::string> names;
  const auto count = static_cast<zip_uint64_t>(::zip_get_num_entries(opened, 0));
  for (zip_uint64_t i = 0; i < count; ++i) {
    const char* const name = ::zip_get_name(opened, i, ZIP_FL_ENC_RAW);
    std::string_view shown = name != nullptr ? name : "";
    if (shown.ends_with(".npy")) shown.remove_suffix(4);
    names.emplace_back(shown);
  }
  return names;
}

zip_uint64_t choose_member(const std::vector<std::string>& names, std::string_view member, const std::string& input) {
  if (member.empty() && names.size() == 1) return 0;
  if (member.empty()) {
    throw usage_error(fmt::format("{}: choose one of its members with --member{}", input, other_names("", names)));
  }
  if (member.ends_with(".npy")) member.remove_suffix(4);
  const auto match = std::ranges::find(names, member);
  if (match == names.end()) {
    throw usage_error(
        fmt::format("{}: no member is called '{}'{}", input, printable(member), other_names(member, names)));
  }
  return static_cast<zip_uint64_t>(match - names.begin());
}

class npz_member final : public byte_stream {
 public:
  npz_member(archive opened, zip_uint64_t index, std::string place)
      : archive_(std::move(opened)),
        place_(std::move(place)),
        member_(::zip_fopen_index(archive_.get(), index, 0), &::zip_fclose) {
    if (!member_) throw bad_data(fmt::format("{}: {}", place_, ::zip_strerror(archive_.get())));
  }

  std::size_t read(std::span<std::byte> to) override {
    const zip_int64_t got = ::zip_fread(member_.get(), to.data(), to.size());
    if (got < 0) throw bad_data(fmt::format("{}: {}", place_, ::zip_file_strerror(member_.get())));
    return static_cast<std::size_t>(got);
  }

 private:
  archive archive_;
  std::string place_;  ///< the input and the member, for messages
  std::unique_ptr<zip_file_t, decltype(&::zip_fclose)> member_;
};

}  // namespace

bool is_npz(std::span<const std::byte> start) noexcept {
  return std::string_view(reinterpret_cast<const char*>(start.data()), start.size()).starts_with("PK\x03\x04");
}

std::unique_ptr<byte_stream> open_npz_member(int fd, const std::string& member, const std::string& name) {
  archive opened = open_archive(fd, name);
  const std::vector<std::string> names = members_of(opened.get());
  const zip_uint64_t index = choose_member(names, member, name);
  return std::make_unique<npz_member>(std::move(opened), index,
                                      fmt::format("{}: member '{}'", name, printable(names[index])));
}

}  // namespace fanin::cli
