#!/bin/bash
# Installs what building and testing Weft takes on Debian 12, and only what is missing. Run it by itself, or source it
# and call weft_install_packages.
#
# WEFT_NO_INSTALL=1: look, but install nothing.

# One per line: the package, and after a colon the command that makes it needless when something else supplies it.
weft_packages() {
  cat <<'LIST'
g++:g++
cmake:cmake
ninja-build:ninja
ccache:ccache
mold:mold
pkg-config:pkg-config
libabsl-dev
libnghttp2-dev
libssl-dev
nlohmann-json3-dev
libxxhash-dev
zlib1g-dev
catch2
libbenchmark-dev
libgrpc++-dev
libprotobuf-dev
protobuf-compiler:protoc
protobuf-compiler-grpc:grpc_cpp_plugin
clang-14:clang++-14
libclang-rt-14-dev
llvm-14:llvm-symbolizer-14
nghttp2-server:nghttpd
nghttp2-client:h2load
nginx-light:nginx
haproxy:haproxy
nodejs:node
npm:npm
openssl:openssl
iproute2:ip
LIST
}

# Services that tests start live in sbin, which is not in everyone's PATH.
weft_has_command() { PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin" command -v "$1" >/dev/null 2>&1; }

weft_has_package() {
  [[ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" == installed ]]
}

weft_missing_packages() {
  local line package command
  while read -r line; do
    package="${line%%:*}"
    command=""
    if [[ "$line" == *:* ]]; then command="${line#*:}"; fi
    if weft_has_package "$package"; then continue; fi
    if [[ -n "$command" ]] && weft_has_command "$command"; then continue; fi
    echo "$package"
  done < <(weft_packages)
}

# Packages of servers start them when they are installed, which nobody who only runs tests has asked for. Debian asks
# policy-rc.d first; ours says no, and the one that was there comes back. The copy of an interrupted run comes back too.
weft_policy=/usr/sbin/policy-rc.d
weft_saved_policy=/usr/sbin/policy-rc.d.before-weft

weft_forbid_services() {
  if [[ ! -e "$weft_saved_policy" ]]; then
    if [[ -e "$weft_policy" ]]; then
      mv "$weft_policy" "$weft_saved_policy"
    else
      : >"$weft_saved_policy"  # Empty: there was none.
    fi
  fi
  printf '#!/bin/sh\nexit 101\n' >"$weft_policy"
  chmod 755 "$weft_policy"
}

weft_allow_services() {
  if [[ ! -e "$weft_saved_policy" ]]; then return 0; fi
  if [[ -s "$weft_saved_policy" ]]; then
    mv -f "$weft_saved_policy" "$weft_policy"
  else
    rm -f "$weft_policy" "$weft_saved_policy"
  fi
}

# In a subshell of its own, so that its traps and its environment end with it.
weft_apt_install() (
  export DEBIAN_FRONTEND=noninteractive
  trap weft_allow_services EXIT
  trap 'exit 130' INT TERM HUP
  weft_forbid_services
  # A failed update is no reason to give up: the packages may be on a disc or in a cache.
  apt-get update || true
  apt-get install -y --no-install-recommends "$@" || exit 1
)

weft_install_packages() {
  local missing=()
  if ! command -v dpkg-query >/dev/null 2>&1; then
    echo "Weft's tests run on Debian 12: install by hand what $(weft_packages | cut -d: -f1 | tr '\n' ' ')name there." >&2
    return 1
  fi
  mapfile -t missing < <(weft_missing_packages)
  if ((${#missing[@]} > 0)); then
    if [[ "${WEFT_NO_INSTALL:-}" == 1 || "$(id -u)" != 0 ]]; then
      echo "Packages are missing; as root, run: apt-get install --no-install-recommends ${missing[*]}" >&2
      return 1
    fi
    echo "== Installing ${#missing[@]} packages: ${missing[*]}"
    if ! weft_apt_install "${missing[@]}"; then
      echo "The packages could not be installed: check the network and the sources of apt, then run this again." >&2
      return 1
    fi
  fi

  # A node of one's own is left alone, but it has to be recent.
  local version
  version="$(node --version 2>/dev/null || true)"
  version="${version#v}"
  if ! [[ "${version%%.*}" =~ ^[0-9]+$ ]] || ((${version%%.*} < 18)); then
    echo "The node in PATH is ${version:-broken}, the tests need 18 or later: update it, or remove it and run this again." >&2
    return 1
  fi
}

if [[ "${BASH_SOURCE[0]}" == "$0" ]]; then
  set -euo pipefail
  weft_install_packages
fi
