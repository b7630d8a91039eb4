#!/bin/sh
# Installs Doorstep from this archive, on systems with glibc 2.35 or later, libpq.so.5 (Debian: libpq5) and libstdc++.so.6 (libstdc++6).
# usage: ./install.sh [--prefix /]     (as root)
set -eu

prefix=/
case ${1-} in
    '') ;;
    --prefix) prefix=${2:?--prefix needs a directory} ;;
    *) sed -n 's/^# usage/usage/p' "$0" >&2; exit 64 ;;
esac
here=$(cd "$(dirname "$0")" && pwd)

glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null | sed 's/^glibc //')
if [ -z "$glibc" ] || [ "$(printf '%s\n2.35\n' "$glibc" | sort -V | head -n 1)" != 2.35 ]; then
    echo "install.sh: glibc 2.35 or later is needed; got ${glibc:-none}" >&2
    exit 1
fi

mkdir -p "$prefix/usr" "$prefix/etc/doorstep"
# A running program cannot be overwritten: its file is removed first.
cp -R --remove-destination "$here/usr/." "$prefix/usr/"
if [ ! -e "$prefix/etc/doorstep/doorstep.conf" ]; then
    install -m 0640 "$here/etc/doorstep/doorstep.conf" "$prefix/etc/doorstep/doorstep.conf"
fi
if [ "$prefix" = / ]; then
    getent passwd doorstep >/dev/null || useradd --system --user-group --no-create-home --shell /usr/sbin/nologin doorstep
    chown root:doorstep /etc/doorstep /etc/doorstep/doorstep.conf
    chmod 0750 /etc/doorstep
    [ ! -d /run/systemd/system ] || systemctl daemon-reload
fi
if ! "$prefix/usr/bin/doorstep" --version; then
    echo "install.sh: the program does not run; install libpq.so.5 (Debian: libpq5) and libstdc++.so.6 (libstdc++6)" >&2
    exit 1
fi
echo "install.sh: try it with 'doorstep-quickstart', which needs PostgreSQL 15 or later and curl"
