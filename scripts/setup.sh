# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by run and test: from a bare Debian 12 to a built tree. Says nothing when there is nothing to do, and what it
# says goes to stderr.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build/default

packages=(
  cmake g++ ninja-build                          # build
  libhwy-dev libtbb-dev                          # library
  libcli11-dev libfmt-dev nlohmann-json3-dev     # command
  clang doctest-dev libclang-rt-14-dev libmpfr-dev valgrind  # tests
  libeigen3-dev python3                          # benchmarks
)

say() { printf 'fanin: %s\n' "$*" >&2; }

# A folder's name for the results of this processor.
cpu_machine() {
  local model
  model=$(lscpu | sed -n 's/^Model name: *//p' | head -n 1)
  printf '%s-%s-cores' "$model" "$(nproc)" | tr -cs '[:alnum:]\n' '-' | tr '[:upper:]' '[:lower:]'
}

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

configure() {
  if ! is_debian_12; then
    say "this is not Debian 12: nothing is installed; these are needed, by their Debian names: ${packages[*]}"
  fi
  (cd "$root" && cmake --preset default) >&2
  touch "$build/.configured"
}

# set_up TARGET: installs, configures and builds what is not there yet.
set_up() {
  local missing=()
  if is_debian_12; then mapfile -t missing < <(missing_packages); fi
  if ((${#missing[@]} > 0)); then install_packages "${missing[@]}"; fi
  if [[ ! $build/.configured -nt $root/CMakePresets.json ]] || ((${#missing[@]} > 0)); then configure; fi
  ninja -C "$build" "$1" | sed --unbuffered '/^ninja: no work to do\.$/d; /^ninja: Entering directory/d' >&2
}
