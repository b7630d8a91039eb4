# Sourced, after harness.sh, by the commands that measure over HTTP. Finds or unpacks the programs they need, and installs
# Python's packages.
#
# Needs: `programs`, their names, which are also their packages'; `unpacked`, a folder to keep packages in; `scratch`, one that
# is removed afterwards. Sets `environment`, a virtual environment.
# shellcheck shell=bash disable=SC2154

# The path of a program: Debian's unpacked one or the machine's own.
program() {
    PATH=$unpacked/usr/sbin:$unpacked/usr/bin:$PATH:/usr/sbin:/sbin type -P "$1"
}

# Where the unpacked programs find the libraries that were unpacked with them.
libraries() {
    local directory found=
    for directory in "$unpacked"/usr/lib/*-linux-gnu* "$unpacked"/lib/*-linux-gnu*; do
        if [[ -d $directory ]]; then
            found+=${found:+:}$directory
        fi
    done
    printf '%s\n' "$found"
}

download_packages() {
    local directory=$1
    shift
    # Nothing is installed, so neither root nor dpkg's lock is needed.
    apt-get install -qq --yes --download-only --no-install-recommends -o Debug::NoLocking=1 \
        -o APT::Sandbox::User="$(id -un)" -o Dir::Cache::archives="$directory" "$@" >&2
}

missing_programs() {
    local name
    for name in "${programs[@]}"; do
        program "$name" >/dev/null || printf '%s\n' "$name"
    done
}

# nginx and HAProxy start a service of the system when they are installed. So they are not: their packages,
# and those they need that are missing here, are only downloaded and unpacked.
unpack_missing_programs() {
    local missing package packages=$scratch/packages
    mapfile -t missing < <(missing_programs)
    ((${#missing[@]} > 0)) || return 0
    type -P apt-get >/dev/null || fail "install these programs, then run this again: ${missing[*]}"
    rm -rf "$unpacked"
    mapfile -t missing < <(missing_programs)
    echo "Unpacking Debian's ${missing[*]} in $unpacked" >&2
    mkdir -p "$packages/partial" "$(dirname "$unpacked")"
    if ! download_packages "$packages" "${missing[@]}" 2>/dev/null; then
        # The lists of packages are missing or too old.
        { as_root apt-get update -qq && download_packages "$packages" "${missing[@]}"; } >&2 ||
            fail "apt-get could not download these packages: ${missing[*]}"
    fi
    # Under another name until it is whole.
    rm -rf "$unpacked.part"
    mkdir "$unpacked.part"
    for package in "$packages"/*.deb; do
        dpkg-deb --extract "$package" "$unpacked.part"
    done
    mv "$unpacked.part" "$unpacked"
    mapfile -t missing < <(missing_programs)
    ((${#missing[@]} == 0)) || fail "Debian's packages have no program of these names: ${missing[*]}"
}

install_python_packages() {
    local requirements=$PWD/deploy/bench/http-peers/requirements.txt checksum
    checksum=$(sha256sum "$requirements")
    environment=$PWD/.build-checks/http-peers-${checksum::12}
    # What an interrupted installation left does not count.
    if ! "$environment/bin/python" -c 'import asyncpg, fastapi, httptools, orjson, uvicorn, uvloop' \
        2>/dev/null; then
        python3 -m venv --clear "$environment"
        "$environment/bin/pip" install --quiet --disable-pip-version-check --requirement "$requirements" >&2
    fi
}
