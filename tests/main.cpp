// SPDX-License-Identifier: Apache-2.0
// The main() of every test executable, whose exit status tells a skipped suite from one that passed or failed.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>

#include "tests/support/skip.hpp"

namespace {

bool this_case_skipped = false;
unsigned cases_run = 0, cases_skipped = 0;

/// Counts the test cases that ran, and how many of these called skip().
struct skip_counter : doctest::IReporter {
  explicit skip_counter(const doctest::ContextOptions&) {}
  void test_case_start(const doctest::TestCaseData&) override { this_case_skipped = false; }
  void test_case_end(const doctest::CurrentTestCaseStats&) override {
    ++cases_run;
    if (this_case_skipped) ++cases_skipped;
  }
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};
REGISTER_LISTENER("skip_counter", 1, skip_counter);

}  // namespace

void fanin::test::skip(const std::string& why) {
  std::printf("fanin: skipped: %s\n", why.c_str());
  this_case_skipped = true;
}

int main(int argc, char** argv) {
  const int status = doctest::Context(argc, argv).run();
  const bool all_skipped = cases_run > 0 && cases_skipped == cases_run;
  return status == 0 && all_skipped ? fanin::test::skipped_status : status;
}
