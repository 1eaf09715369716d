# Shared by the scripts of this folder: where things are, and how what is missing is installed.
# Source it: . "$(dirname "$0")/lib.sh"

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '%s\n' "$*" >&2; }
fail() { say "error: $*"; exit 1; }

# What the programs need to be built and to run.
build_packages=(
  build-essential cmake ninja-build ccache pkg-config
  libboost-dev libspdlog-dev libfmt-dev nlohmann-json3-dev libcli11-dev libcereal-dev
  libssl-dev libsqlite3-dev libxxhash-dev libtomlplusplus-dev wabt
)
# What the tests need beyond that.
test_packages=(
  libgtest-dev libgmock-dev libgmp-dev libbenchmark-dev clang libclang-rt-14-dev nasm
)

# need_packages NAME...: installs the Debian packages that are missing; as root without asking, else it
# prints the command. Nothing is touched when all are there.
need_packages() {
  local missing=() name
  for name in "$@"; do
    dpkg-query -W -f='${Status}\n' "$name" 2>/dev/null | grep -q 'ok installed' || missing+=("$name")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  if [ "$(id -u)" -ne 0 ]; then
    fail "these packages are missing; install them and start again:
  sudo apt-get install --no-install-recommends ${missing[*]}"
  fi
  say "installing: ${missing[*]}"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}" \
    >/dev/null || fail "apt-get could not install: ${missing[*]}"
}

# need_peers: snarkjs, circom2 and @noble/curves in build/js, in the versions that package.json pins.
need_peers() {
  command -v node >/dev/null && command -v npm >/dev/null || need_packages nodejs npm
  local target="$root/build/js"
  mkdir -p "$target"
  if ! cmp -s "$root/scripts/js/package.json" "$target/package.json" || [ ! -d "$target/node_modules" ]; then
    say "installing snarkjs, circom2 and their company into build/js"
    cp "$root/scripts/js/package.json" "$target/package.json.new"
    mv "$target/package.json.new" "$target/package.json"
    (cd "$target" && npm install --no-package-lock --no-audit --no-fund --loglevel=error >&2) ||
      { rm -f "$target/package.json"; fail "npm could not install what scripts/js/package.json names"; }
  fi
}
