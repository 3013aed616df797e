#!/bin/sh
# Debian's packages of rsyslog and syslog-ng exclude each other, because each wants to be the machine's own logger. This puts
# syslog-ng beside an rsyslog that is installed: its packages are unpacked into /opt/syslog-ng, what they need is installed,
# and /usr/local/sbin/syslog-ng calls it. No service is made of it. To be called as root.
set -eu
place=/opt/syslog-ng
folder=$(mktemp -d)
chmod 755 "$folder"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq syslog-ng-core syslog-ng-mod-http
needed=$(for package in ./*.deb; do
    dpkg-deb --field "$package" Pre-Depends Depends | tr ',' '\n'
done | sed -e 's/^[A-Za-z-]*: *//' -e 's/|.*//' -e 's/(.*//' -e 's/ //g' | grep -v -e '^syslog-ng' -e '^init-system-helpers' -e '^lsb-base' | sort -u)
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $needed >/dev/null
for package in ./*.deb; do
    dpkg-deb --extract "$package" "$place"
done
core=$(find "$place/usr/lib" -name 'libsyslog-ng-*.so*' | head -1)
modules=$(find "$place/usr/lib" -name libhttp.so | head -1)
cat >/usr/local/sbin/syslog-ng <<SCRIPT
#!/bin/sh
LD_LIBRARY_PATH=$(dirname "$core") exec $place/usr/sbin/syslog-ng --module-path=$(dirname "$modules") "\$@"
SCRIPT
chmod +x /usr/local/sbin/syslog-ng
syslog-ng --version | head -1
