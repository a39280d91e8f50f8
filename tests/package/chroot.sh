#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# chroot.sh BUILD FOLDER   packs the build, and tries the packages in a bare Debian of this machine's release, made in
#                          FOLDER: installs the command, sums a column; installs the one under mpirun,
#                          if there is one, sums over two ranks; installs the library, compiles and links a program.
# Exits with 77 where that cannot be tried: without root, debootstrap or Debian's archive.
set -euo pipefail

build=$1 folder=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
skip() {
  echo "fanin: skipped: $*"
  exit 77
}
((EUID == 0)) || skip "a bare system is made by root"
command -v debootstrap dpkg-shlibdeps > /dev/null || skip "debootstrap or dpkg-dev was not found"
release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
# shellcheck disable=SC2016  # apt's own notation
mapfile -t archives < <(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $release")
((${#archives[@]} > 0)) || skip "apt knows no archive of '$release'"

rm -rf "$folder"
mkdir -p "$folder"
targets=(fanin_tool_outputs fanin)
if [[ -e $build/bin/fanin_mpi.launcher ]]; then targets+=(fanin_mpi); fi
cmake --build "$build" --target "${targets[@]}"
(cd "$folder" && cpack --config "$build/CPackConfig.cmake" -B packages)
system=$folder/system
debootstrap --variant=minbase "$release" "$system" "${archives[0]}" > "$folder/debootstrap.log" 2>&1 \
  || skip "debootstrap failed: $(tail -n 1 "$folder/debootstrap.log")"
trap 'rm -rf "$system"' EXIT
cp "$folder"/packages/*.deb "$here/../build/consumer/main.cpp" "$system/root"

inside() { chroot "$system" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"; }
expect() {  # expect VALUE COMMAND...
  local wanted=$1 found
  shift
  found=$(inside "$@")
  [[ $found == "$wanted" ]] || { echo "$* gave '$found' instead of '$wanted'" && exit 1; }
}
package() { inside sh -c "echo /root/$1_*.deb"; }
install() { inside apt-get install --yes --no-install-recommends "$@" > "$folder/apt.log" 2>&1 || { tail "$folder/apt.log" && exit 1; }; }

inside apt-get update > /dev/null
install "$(package fanin)"
inside fanin backends > /dev/null
expect 0.3 sh -c "printf 'name,price\na,0.1\nb,0.2\n' >x.csv && fanin sum x.csv --column price --type f32 --result f32"
if [[ -e $build/bin/fanin_mpi.launcher ]]; then
  install "$(package fanin-mpi)"
  expect 3 env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 sh -c \
    "printf '\\1\\2' >x.bin && mpirun --oversubscribe -n 2 fanin_mpi sum x.bin --type i8"
fi
install "$(package libfanin-dev)" g++ pkg-config
inside sh -ec 'g++ -std=c++20 -O2 /root/main.cpp $(pkg-config --cflags --libs fanin) -o /root/consumer && /root/consumer'
echo "packages: $(cd "$folder/packages" && du -h --apparent-size ./*.deb | tr '\t\n' '  ')"
