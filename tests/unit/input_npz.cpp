// SPDX-License-Identifier: Apache-2.0
// Tests of .npz files: the members are chosen by name, stored and deflated, and damage is an error.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zip.h>

#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "cli/input/npy.hpp"
#include "cli/input/source.hpp"
#include "cli/kit/errors.hpp"

namespace fanin::cli {
namespace {

/// An archive in a temporary file, which the destructor removes.
class scratch_archive {
 public:
  struct member {
    std::string name, bytes;
    zip_int32_t packing = ZIP_CM_STORE;
  };
  explicit scratch_archive(const std::vector<member>& members) {
    REQUIRE(::close(::mkstemp(path_.data())) == 0);
    zip_t* const made = ::zip_open(path_.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
    REQUIRE(made != nullptr);
    for (const member& one : members) {
      zip_source_t* const bytes = ::zip_source_buffer(made, one.bytes.data(), one.bytes.size(), 0);
      const zip_int64_t index = ::zip_file_add(made, one.name.c_str(), bytes, 0);
      REQUIRE(index >= 0);
      REQUIRE(::zip_set_file_compression(made, static_cast<zip_uint64_t>(index), one.packing, 0) == 0);
    }
    REQUIRE(::zip_close(made) == 0);
  }
  ~scratch_archive() { ::unlink(path_.c_str()); }
  const std::string& path() const { return path_; }
  std::string bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void replace(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }

 private:
  std::string path_ = "/tmp/fanin_npz_XXXXXX";
};

std::string npy_of(const std::vector<double>& values) {
  std::string bytes = write_npy_header(element_type::f64, values.size());
  return bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
}

/// The elements of a member, or the message of an error.
std::vector<double> elements_of(const std::string& path, const std::string& member, std::string* error = nullptr,
                                const std::string& column = {}) {
  std::vector<double> values;
  try {
    source input({.path = path, .integers = false, .column = column, .member = member});
    const array_view all = input.load();
    values.resize(all.count);
    if (all.count > 0) std::memcpy(values.data(), all.data, all.bytes());
    input.finish();
  } catch (const std::runtime_error& problem) {
    REQUIRE(error != nullptr);
    *error = problem.what();
  }
  return values;
}

TEST_SUITE_BEGIN("source");

TEST_CASE("npz: members by name, stored and deflated") {
  std::vector<double> many(300'000);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<double>(i);
  const scratch_archive file({{"weights.npy", npy_of(many), ZIP_CM_DEFLATE}, {"bias.npy", npy_of({1, 2})}});
  CHECK(elements_of(file.path(), "weights") == many);
  CHECK(elements_of(file.path(), "weights.npy") == many);
  CHECK(elements_of(file.path(), "bias") == std::vector<double>{1, 2});
  std::string error;
  elements_of(file.path(), "", &error);
  CHECK(error == file.path() + ": choose one of its members with --member; there are weights, bias");
  elements_of(file.path(), "wieghts", &error);
  CHECK(error.find("no member is called 'wieghts'; did you mean 'weights'?") != std::string::npos);
  const scratch_archive single({{"arr_0.npy", npy_of({3})}});
  CHECK(elements_of(single.path(), "") == std::vector<double>{3});
  CHECK(source({.path = single.path()}).format() == "npy");
  CHECK_FALSE(source({.path = single.path()}).whole());
}

TEST_CASE("zip: a packed file is read as its name says, and what is no file is passed over") {
  const scratch_archive file(
      {{"folder/x.csv", "day,price\nmonday,2\ntuesday,3\n", ZIP_CM_DEFLATE}, {"__MACOSX/._x.csv", "odd"}});
  std::string error;
  CHECK(source({.path = file.path(), .column = "price"}).format() == "csv");
  CHECK(elements_of(file.path(), "", &error, "price") == std::vector<double>{2, 3});
  CHECK(elements_of(file.path(), "folder/x.csv", &error, "price") == std::vector<double>{2, 3});
  const scratch_archive two({{"x.txt", "1 2"}, {"y.tsv", "3\t4\n"}});
  CHECK(elements_of(two.path(), "x.txt", &error) == std::vector<double>{1, 2});
  CHECK(elements_of(two.path(), "y.tsv", &error, "2") == std::vector<double>{4});
  elements_of(two.path(), "", &error);
  CHECK(error == two.path() + ": choose one of its members with --member; there are x.txt, y.tsv");
  for (const auto& [member, what] : {std::pair("xl/workbook.xml", "an Excel workbook (.xlsx)"),
                                     std::pair("META-INF/manifest.xml", "an OpenDocument file, as .ods")}) {
    const scratch_archive sheet({{member, "<x/>"}, {"styles.xml", "<x/>"}});
    elements_of(sheet.path(), "", &error);
    CHECK(error.find(fmt::format("is {}, which fanin does not read; save the sheet as CSV", what)) !=
          std::string::npos);
  }
  const scratch_archive none(std::vector<scratch_archive::member>{{"folder/", ""}});
  elements_of(none.path(), "", &error);
  CHECK(error.ends_with(": is a zip archive without a file"));
}

TEST_CASE("npz: damage") {
  const scratch_archive file({{"a.npy", npy_of({1, 2, 3})}});
  const std::string bytes = file.bytes();
  std::string error;
  std::string changed = bytes;
  changed[bytes.find("NUMPY") + 130] ^= 1;
  file.replace(changed);
  elements_of(file.path(), "a", &error);
  CHECK(error == file.path() + ": member 'a': CRC error");
  file.replace(bytes.substr(0, bytes.size() - 30));
  elements_of(file.path(), "a", &error);
  CHECK(error.starts_with(file.path() + ": damaged zip archive: "));
  const scratch_archive text({{"a.npy", "1,2\n", ZIP_CM_STORE}});
  elements_of(text.path(), "a", &error);
  CHECK(error == text.path() + ": member 'a': is not a .npy file: the first bytes are not \\x93NUMPY");
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
