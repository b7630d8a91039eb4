# Functions of all benchmarks, which source this file. Each has a `usage` and a `main`, and ends with `run "$@"`.
# shellcheck shell=bash disable=SC2034

readonly caller=$PWD bench=${0##*/}
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
# Measure with the default settings.
unset DATABASE_URL "${!DOORSTEP_@}"

doorstep=
scratch=
# The process that ends with the benchmark, and the file of incomplete results.
started=
unfinished=

fail() {
    echo "deploy/bench/$bench: $*" >&2
    exit 1
}

refuse_arguments() {
    usage >&2
    exit 64
}

# The path of the caller's binary.
given_binary() {
    [[ -n ${1-} ]] || refuse_arguments
    (cd "$caller" && realpath -- "$1") || exit
}

clean_up() {
    if [[ -n $started ]] && kill -TERM "$started" 2>/dev/null; then
        # It ends its own children, and the embedded PostgreSQL last.
        wait "$started" || echo "deploy/bench/$bench: the measured program ended with status $?" >&2
    fi
    rm -rf "$scratch" "$unfinished"
}

# A folder that is removed at the end, also after an error.
make_scratch() {
    scratch=$(mktemp -d)
    trap clean_up EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
}

as_root() {
    if ((EUID == 0)); then
        "$@"
    else
        sudo -n "$@"
    fi
}

# Programs without a service, each as `name:package`, are installed.
install_missing() {
    local pair missing=()
    for pair in "$@"; do
        type -P "${pair%%:*}" >/dev/null || missing+=("${pair#*:}")
    done
    ((${#missing[@]} > 0)) || return 0
    type -P apt-get >/dev/null || fail "install these packages, then run this again: ${missing[*]}"
    local install=(as_root apt-get install -qq --yes --no-install-recommends "${missing[@]}")
    if ! "${install[@]}" >&2; then
        # The lists of packages are missing or too old.
        { as_root apt-get update -qq && "${install[@]}"; } >&2 ||
            fail "apt-get could not install these packages: ${missing[*]}"
    fi
}

# In the background, so that the script handles signals at once.
interruptibly() {
    "$@" &
    started=$!
    local status=0
    wait "$started" || status=$?
    started=
    return "$status"
}

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# Date, revision and machine, for measurements without reporting.py.
print_circumstances() {
    python3 deploy/bench/http-peers/reporting.py "$doorstep"
}

# Reads the options of all benchmarks, and runs `main` with the others. With --results, the output of `main` is also written to a file, below
# the command without paths of binaries.
run() {
    local arguments=() is_kept=false results=deploy/bench/results/$bench.md
    while (($# > 0)); do
        case $1 in
            --doorstep)
                doorstep=$(given_binary "${2-}")
                shift
                ;;
            --results) is_kept=true ;;
            --http)
                # The measured quantity differs.
                results=deploy/bench/results/$bench-http.md
                arguments+=("$1")
                ;;
            --soak)
                results=deploy/bench/results/soak.md
                arguments+=("$1")
                ;;
            --help | -h)
                usage
                exit 0
                ;;
            *) arguments+=("$1") ;;
        esac
        shift
    done
    if [[ $is_kept == false ]]; then
        main "${arguments[@]}"
        return
    fi
    [[ -z $doorstep ]] || deploy/revision "$(dirname "$doorstep")" >/dev/null 2>&1 ||
        fail "--results needs a binary that was built in a checkout, since the file tells the revision"
    unfinished=$PWD/$results.part
    printf '%s\n\n' "\`deploy/bench/$bench${arguments[*]:+ ${arguments[*]##*/}}\`" >"$unfinished"
    main "${arguments[@]}" >>"$unfinished"
    mv "$unfinished" "$results"
    cat "$results"
}
