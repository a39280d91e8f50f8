# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by the other scripts: from a bare Debian 12 to a built tree. Says nothing when there is nothing to do, and what
# it says goes to stderr.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build/default

# The packages of the command, those of the quick ring of tests, and those that only the full ring needs.
packages=(
  cmake g++ ninja-build                          # build
  libhwy-dev libtbb-dev                          # library
  libcli11-dev libfmt-dev libzip-dev libzstd-dev nlohmann-json3-dev zlib1g-dev  # command
)
packages_of_tests=(
  doctest-dev libmpfr-dev pkg-config             # tests
  libopenmpi-dev openmpi-bin                     # reductions over ranks
  libeigen3-dev libpython3-dev python3 python3-numpy python3-pandas python3-pip  # benchmarks, and the Python package
)
# shellcheck disable=SC2034  # scripts/test adds them
packages_of_full=(
  clang libclang-rt-14-dev valgrind              # fuzzers and instruction counts
  chromium fonts-dejavu-core                     # in which the tests look at a report
  doxygen                                        # the documentation as a site
  debootstrap dpkg-dev                           # packages, and a bare system to try them in
  libmpich-dev mpich                             # reductions over ranks of another implementation
  libpython3.11-testsuite python3-hypothesis python3-pytest  # CPython's and numpy's own tests
  python3-venv                                   # an environment for JAX
)

# How much is configured, from least to most: the command without device code, for the processor of this machine; the same
# for every processor; with the kernels of `cuda`; with the references and the ladder, which take most of the build's time
# and run on a GPU only; with tests, examples and benchmarks.
configurations=(none native cpu command measure all)

say() { printf 'fanin: %s\n' "$*" >&2; }

# A folder's name for the results of this processor.
cpu_machine() {
  local model
  model=$(lscpu | sed -n 's/^Model name: *//p' | head -n 1)
  printf '%s-%s-cores' "$model" "$(nproc)" | tr -cs '[:alnum:]\n' '-' | tr '[:upper:]' '[:lower:]'
}

has_gpu() { [[ -e /dev/nvidiactl || -e /dev/dxg ]]; }

# Device code is `optimised`, or `checked`: compiled without optimisation, for its errors alone. A machine without a GPU
# runs none of it. Scripts whose device code goes to other machines set `optimised`.
if has_gpu; then device_code=optimised; else device_code=checked; fi

# The configuration with which this machine runs the command: without a GPU it needs no device code.
command_for_this_machine() { if has_gpu; then echo command; else echo native; fi; }

has_device_code() { [[ $1 != native && $1 != cpu ]]; }

is_debian_12() {
  command -v dpkg-query > /dev/null && grep -qs '^VERSION_CODENAME=bookworm$' /etc/os-release
}

missing_packages() {
  local installed
  installed=" $(dpkg-query -W -f='${db:Status-Abbrev}${Package} ' "${packages[@]}" 2> /dev/null || true)"
  local package
  for package in "${packages[@]}"; do
    [[ $installed == *" "?"i $package "* ]] || printf '%s\n' "$package"
  done
}

install_packages() {
  say "installing Debian packages: $*"
  local as_root=()
  if ((EUID != 0)); then
    if ! command -v sudo > /dev/null; then
      say "that needs root, and there is no sudo. As root: apt-get install --no-install-recommends $*"
      return 1
    fi
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update >&2
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$@" >&2
}

# The place of a configuration in the list.
rank_of() {
  local i
  for i in "${!configurations[@]}"; do [[ ${configurations[i]} != "$1" ]] || echo "$i"; done
}

configure() {
  if ! is_debian_12; then
    say "this is not Debian 12, so nothing is installed; these are needed, by their Debian names: ${packages[*]}"
  fi
  local native=OFF cuda=AUTO references=ON tests=ON part processor=CPU settings=()
  if [[ $1 == native ]]; then native=ON processor="CPU of this machine"; fi
  if ! has_device_code "$1"; then
    cuda=OFF
    say "building for the $processor alone; cmake --preset default -DFANIN_CUDA=ON -DFANIN_NATIVE=OFF adds the rest"
  fi
  if [[ $cuda == OFF || $1 == command ]]; then references=OFF; fi
  if [[ $1 != all ]]; then tests=OFF; fi
  settings+=("-DFANIN_NATIVE=$native" "-DFANIN_CUDA=$cuda")
  settings+=("-DFANIN_CUDA_CHECK_ONLY=$([[ $device_code == checked ]] && echo ON || echo OFF)")
  for part in REFERENCES LADDER; do settings+=("-DFANIN_$part=$references"); done
  for part in TESTS EXAMPLES BENCH; do settings+=("-DFANIN_$part=$tests"); done
  (cd "$root" && cmake --preset default "${settings[@]}") >&2
  echo "$1 $([[ $cuda == OFF ]] || echo "$device_code")" > "$build/.configured"
}

# set_up CONFIGURATION TARGET...: installs, configures and builds what is not there yet.
set_up() {
  local wanted=$1 there="" code="" missing=()
  shift
  if [[ $wanted == all ]]; then packages+=("${packages_of_tests[@]}"); fi
  if is_debian_12; then mapfile -t missing < <(missing_packages); fi
  if ((${#missing[@]} > 0)); then install_packages "${missing[@]}"; fi
  if [[ -e $build/.configured ]]; then read -r there code < "$build/.configured"; fi
  there=${there:-none}
  if (($(rank_of "$there") > $(rank_of "$wanted"))); then wanted=$there; fi
  if [[ $code == optimised ]]; then device_code=optimised; fi  # what is optimised stays so
  if ! has_device_code "$wanted"; then device_code=$code; fi
  if [[ "$there $code" != "$wanted $device_code" || ! $build/.configured -nt $root/CMakePresets.json ]] || ((${#missing[@]} > 0)); then
    configure "$wanted"
  fi
  ninja -C "$build" "$@" | sed --unbuffered '/^ninja: no work to do\.$/d; /^ninja: Entering directory/d' \
    | with_progress >&2
}

# Copies stdin, and says where it is after every 30 seconds without a line. ctest's output shows which tests run; ninja's
# output shows only the steps that have ended.
with_progress() {
  local line status state part="" last="" begin=$SECONDS
  declare -A running=()
  while true; do
    status=0
    IFS= read -r -t 30 line || status=$?
    if ((status > 128)); then
      part+=$line
      state="last step that ended: $last"
      if ((${#running[@]} > 0)); then state="under way: ${running[*]}"; fi
      say "$(((SECONDS - begin) / 60)) min $(((SECONDS - begin) % 60)) s; $state"
      continue
    fi
    if ((status != 0)); then
      printf '%s' "$part$line"
      break
    fi
    line=$part$line part=""
    printf '%s\n' "$line"
    last=$line
    if [[ $line =~ ^\ *Start\ +([0-9]+):\ (.*)$ ]]; then
      running[${BASH_REMATCH[1]}]=${BASH_REMATCH[2]}
    elif [[ $line =~ Test\ +#([0-9]+): ]]; then
      unset "running[${BASH_REMATCH[1]}]"
    fi
  done
}
