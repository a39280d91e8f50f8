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

/// A member's place in the archive, and its name, from which `shown` leaves out the .npy that numpy.savez() adds.
struct listed_member {
  zip_uint64_t index;
  std::string name, shown;
};

std::vector<listed_member> members_of(zip_t* opened) {
  std::vector<listed_member> members;
  const auto count = static_cast<zip_uint64_t>(::zip_get_num_entries(opened, 0));
  for (zip_uint64_t i = 0; i < count; ++i) {
    const char* const stored = ::zip_get_name(opened, i, ZIP_FL_ENC_RAW);
    const std::string_view name = stored != nullptr ? stored : "";
    if (name.ends_with('/') || name.starts_with("__MACOSX/")) continue;
    members.push_back(
        {i, std::string(name), std::string(name.ends_with(".npy") ? name.substr(0, name.size() - 4) : name)});
  }
  return members;
}

void refuse_spreadsheet(const std::vector<listed_member>& members, const std::string& input) {
  struct spreadsheet {
    std::string_view member, what;
  };
  constexpr spreadsheet all[] = {{"xl/workbook.xml", "an Excel workbook (.xlsx)"},
                                 {"xl/workbook.bin", "an Excel workbook (.xlsb)"},
                                 {"META-INF/manifest.xml", "an OpenDocument file, as .ods"}};
  for (const auto& [member, what] : all) {
    if (std::ranges::find(members, member, &listed_member::name) == members.end()) continue;
    throw bad_data(
        fmt::format("{}: is {}, which fanin does not read; save the sheet as CSV, or convert it: 'soffice "
                    "--convert-to csv FILE'",
                    input, what));
  }
}

const listed_member& choose_member(const std::vector<listed_member>& members, std::string_view member,
                                   const std::string& input) {
  if (members.empty()) throw bad_data(fmt::format("{}: is a zip archive without a file", input));
  if (member.empty() && members.size() == 1) return members[0];
  if (member.empty()) refuse_spreadsheet(members, input);
  std::vector<std::string> names;
  for (const listed_member& one : members) names.push_back(one.shown);
  if (member.empty()) {
    throw usage_error(fmt::format("{}: choose one of its members with --member{}", input, other_names("", names)));
  }
  if (member.ends_with(".npy")) member.remove_suffix(4);
  const auto match = std::ranges::find(members, member, &listed_member::shown);
  if (match == members.end()) {
    throw usage_error(
        fmt::format("{}: no member is called '{}'{}", input, printable(member), other_names(member, names)));
  }
  return *match;
}

class member_stream final : public byte_stream {
 public:
  member_stream(archive opened, zip_uint64_t index, std::string place)
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

bool is_zip(std::span<const std::byte> start) noexcept { return text_of(start).starts_with("PK\x03\x04"); }

zip_member open_zip_member(int fd, const std::string& member, const std::string& name) {
  archive opened = open_archive(fd, name);
  const std::vector<listed_member> members = members_of(opened.get());
  const listed_member& chosen = choose_member(members, member, name);
  const std::string place = fmt::format("{}: member '{}'", name, printable(chosen.shown));
  return {chosen.name, std::make_unique<member_stream>(std::move(opened), chosen.index, place)};
}

}  // namespace fanin::cli
