// SPDX-License-Identifier: Apache-2.0
// Tests of scripts/run, scripts/install and scripts/wheel, with stand-ins for the programs that install packages and
// build.
#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "tests/cli/process.hpp"

namespace fanin::cli {
namespace {

TEST_SUITE_BEGIN("scripts");

/// A copy of the scripts. A build there gives a command that prints its arguments and ends with the status 3.
class scripts_folder {
 public:
  scripts_folder() {
    here.write("dpkg-query", "#!/bin/bash\nshift 2\nprintf 'ii %s ' \"$@\"\n");
    here.write("cmake",
               "#!/bin/bash\ncase $1 in\n--preset) mkdir -p build/default && echo \"$@\" >configured ;;\n"
               "--install) mkdir -p \"$6/bin\" && cp \"$2/bin/fanin\" \"$6/bin\" ;;\nesac\n");
    here.write("ninja",
               "#!/bin/bash\nmkdir -p \"$2/bin\"\nprintf '#!/bin/bash\\necho \"$@\"\\nexit 3\\n' >\"$2/bin/fanin\"\n"
               "chmod +x \"$2/bin/fanin\"\n");
    REQUIRE(here.shell("chmod +x cmake ninja dpkg-query && mkdir tools scripts && mv cmake ninja dpkg-query tools && "
                       "cd " FANIN_SOURCE "/scripts && cp run install wheel setup.sh \"$OLDPWD/scripts\"")
                .status == 0);
  }
  finished run(const std::string& command) const {
    return here.shell("export HOME=$PWD PATH=$PWD/tools:/usr/bin:/bin; " + command);
  }
  const std::string& path() const { return here.path(); }

 private:
  scratch_folder here;
};

TEST_CASE("scripts/run says once where the command is, behind what the command prints") {
  const scripts_folder here;
  const std::string place =
      "fanin: the command is " + here.path() + "/build/default/bin/fanin; scripts/install puts it on your PATH\n";
  const finished first = here.run("scripts/run sum 'a b'");
  CHECK(first.status == 3);
  CHECK(first.out == "sum a b\n");
  CHECK(first.err.ends_with(place));
  const finished second = here.run("scripts/run");
  CHECK(second.status == 3);
  CHECK(second.out == "compare\n");
  CHECK(second.err.find("the command is") == std::string::npos);
}

TEST_CASE("scripts/install installs below ~/.local or another folder, and says whether the command is on the PATH") {
  const scripts_folder here;
  const finished home = here.run("scripts/install && .local/bin/fanin installed");
  CHECK(home.out == "installed\n");
  CHECK(home.err.find("fanin: the command is " + here.path() + "/.local/bin/fanin\n") != std::string::npos);
  CHECK(home.err.ends_with("export PATH=\"" + here.path() + "/.local/bin:$PATH\"\n"));
  const finished other = here.run("PATH=$PATH:$PWD/a/bin scripts/install a && a/bin/fanin installed");
  CHECK(other.out == "installed\n");
  CHECK(other.err.ends_with("fanin: the command is " + here.path() + "/a/bin/fanin\n"));
  check_failure(here.run("scripts/install a b"), 2, "usage: install [PREFIX], by default ~/.local");
}

TEST_CASE("scripts/wheel --cpu leaves device code out") {
  for (const auto& [option, setting] :
       {std::pair("", "-DFANIN_CUDA=AUTO"), std::pair(" --cpu", "-DFANIN_CUDA=OFF")}) {
    const scripts_folder here;
    const finished wheel = here.run("mkdir python && ln -s /bin/true python/pack.py && scripts/wheel" +
                                    std::string(option) + " && cat configured");
    CHECK(wheel.status == 0);
    CHECK(wheel.out.find(setting) != std::string::npos);
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
