// SPDX-License-Identifier: Apache-2.0
// fanin device prints the properties of the CPU and the GPUs, and the measured rates of their reads and copies.
#include <algorithm>
#include <iterator>
#include <memory>

#include <fmt/format.h>

#include <fanin/backend.hpp>

#include "cli/commands.hpp"
#include "cli/device/machine.hpp"
#include "cli/gpu.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/parser.hpp"

namespace fanin::cli {

namespace {

struct machine {
  std::vector<fact> processor = processor_facts();
  read_measurements reads = measure_reads(processor);
  const availability& gpu = find_backend("cuda").probe();
  std::vector<std::vector<fact>> devices;
};

json as_json(const machine& here) {
  json cpu = as_json(here.processor), reads = json::array(), devices = json::array();
  for (const auto& [threads, rate] : here.reads.rates) {
    reads.push_back({{"threads", threads}, {"gigabytes_per_second", rate}});
  }
  cpu["measured_reads"] = {{"bytes", here.reads.bytes}, {"rates", reads}};
  for (const auto& one : here.devices) devices.push_back(as_json(one));
  return described({{"cpu", cpu},
                    {"gpu",
                     {{"usable", here.gpu.usable()},
                      {"reason", to_string(here.gpu.why)},
                      {"detail", here.gpu.detail},
                      {"devices", devices}}}});
}

std::string as_text(const machine& here) {
  std::vector<table_row> rows = {{"CPU"}};
  const auto append = [&](const std::vector<fact>& facts) {
    std::ranges::copy(as_rows(facts), std::back_inserter(rows));
  };
  append(here.processor);
  append({{"measured reads of", here.reads.bytes, unit::bytes}});
  for (const auto& [threads, rate] : here.reads.rates) {
    append({{fmt::format("  by {} thread{}", threads, threads == 1 ? "" : "s"), rate, unit::gigabytes_per_second}});
  }
  for (std::size_t i = 0; i < here.devices.size(); ++i) {
    rows.push_back({fmt::format("GPU {}", i)});
    append(here.devices[i]);
  }
  const std::string none = fmt::format("GPU: not usable ({}): {}\n", to_string(here.gpu.why), here.gpu.detail);
  return align(rows, 2) + (here.gpu.usable() ? "" : none);
}

void run_device(bool wants_json) {
  progress line("measuring reads of memory");
  machine here;
  if (here.gpu.usable()) here.devices = require_gpu().gpu_facts();
  line.end();
  write_stdout(wants_json ? printed(as_json(here)) : as_text(here));
}

}  // namespace

command add_device(CLI::App& root) {
  auto wants_json = std::make_shared<bool>(false);
  CLI::App* parser = root.add_subcommand("device", "CPU and GPUs of this machine, and their read and copy speed");
  parser->add_flag("--json", *wants_json, "print one JSON object");
  parser->footer(
      R"(The code path is the instruction set of the sums on the CPU, by Highway's name: AVX3 is AVX-512. The speed of reading
is measured now, in the same way as the ceilings of 'fanin compare' and 'fanin ladder'. A copy goes from the memory of
the host to a device. 'unknown' stands for what neither the system nor the driver reports.

Examples:
  fanin device
  fanin device --json)");
  return {parser, [wants_json] { run_device(*wants_json); }};
}

}  // namespace fanin::cli
