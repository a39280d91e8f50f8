// SPDX-License-Identifier: Apache-2.0
// Tests of the scales of charts: their ticks, and the positions of values.
#include "cli/report/scale.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace fanin::cli::charts {
namespace {

std::vector<std::string> labels(const scale& axis) {
  std::vector<std::string> all;
  for (const tick& one : axis.ticks()) all.push_back(one.label);
  return all;
}

using texts = std::vector<std::string>;

TEST_SUITE_BEGIN("chart_scale");

TEST_CASE("linear: steps of 1, 2 or 5, and the ends are ticks") {
  const double values[] = {0, 4498};
  const scale axis(scaling::linear, values, 6);
  CHECK(labels(axis) == texts{"0", "1000", "2000", "3000", "4000", "5000"});
  CHECK(axis.place(0) == 0);
  CHECK(axis.place(2500) == doctest::Approx(0.5));
  const double small[] = {-0.7, 2.1};
  CHECK(labels(scale(scaling::linear, small, 8)) == texts{"-1", "-0.5", "0", "0.5", "1", "1.5", "2", "2.5"});
  const double one[] = {0.0};
  CHECK(labels(scale(scaling::linear, one, 2)).front() == "0");
}

TEST_CASE("logarithmic: powers, all written alike; few decades have ticks at 2 and 5 too") {
  const double errors[] = {3e-17, 0.4};
  CHECK(labels(scale(scaling::log10, errors, 6)) == texts{"10⁻¹⁵", "10⁻¹²", "10⁻⁹", "10⁻⁶", "10⁻³"});
  const double wide[] = {1, 74000};
  CHECK(labels(scale(scaling::log10, wide, 6)) == texts{"10⁰", "10¹", "10²", "10³", "10⁴", "10⁵"});
  const double rates[] = {7, 130};
  const scale axis(scaling::log10, rates, 8);
  CHECK(labels(axis) == texts{"5", "10", "20", "50", "100", "200"});
  CHECK(axis.place(5) == doctest::Approx(0));
  CHECK(axis.place(200) == doctest::Approx(1));
  CHECK(axis.place(100) - axis.place(10) == doctest::Approx(axis.place(50) - axis.place(5)));
}

TEST_CASE("lengths: only those that were measured have ticks, the largest always, and no two are too close") {
  const double counts[] = {1 << 22, 1024, 1 << 13, 1000, 1 << 22, 1 << 16};
  const scale axis(scaling::lengths, counts, 6);
  CHECK(labels(axis) == texts{"2¹⁰", "2¹³", "2¹⁶", "2²²"});
  CHECK(axis.place(1000) == 0);
  CHECK(axis.place(1 << 22) == 1);
  CHECK(axis.place(1 << 16) == doctest::Approx(std::log(65.536) / std::log(4194.304)));
  CHECK(labels(scale(scaling::lengths, counts, 2)) == texts{"2¹³", "2²²"});
  const double one[] = {64};
  CHECK(labels(scale(scaling::lengths, one, 5)) == texts{"64"});
  CHECK(scale(scaling::lengths, one, 5).place(64) == doctest::Approx(0.5));
}

TEST_CASE("logarithmic: 0 stands below all") {
  const double values[] = {0, 1e-6, 1};
  const scale axis(scaling::log10, values, 8);
  CHECK(axis.place(0) == 0);
  CHECK(axis.place(1e-6) > 0.1);
  CHECK(axis.ticks().back().label == "0");
  const double only[] = {0.0};
  CHECK(scale(scaling::log10, only, 8).place(0) == 0);
}

TEST_CASE("names: at equal distances, and labels for as many as fit") {
  const std::vector<std::string> names = {"a", "b", "c", "d", "e"};
  const scale axis(names, 3);
  CHECK(labels(axis) == texts{"a", "c", "e"});
  CHECK(axis.place(0) == doctest::Approx(0.1));
  CHECK(axis.place(4) == doctest::Approx(0.9));
}

TEST_CASE("numbers") {
  CHECK(number_text(0) == "0");
  CHECK(number_text(0.25) == "0.25");
  CHECK(number_text(4552.9) == "4553");
  CHECK(number_text(-20) == "-20");
  CHECK(number_text(1e-7) == "10⁻⁷");
  CHECK(number_text(2.5e12) == "2.5·10¹²");
  CHECK(number_text(9.9996e9) == "10¹⁰");
  CHECK(number_text(9.99e9) == "9.99·10⁹");
  CHECK(count_text(1 << 24) == "2²⁴");
  CHECK(count_text(64) == "64");
  CHECK(count_text(1000000) == "10⁶");
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli::charts
