# shellcheck shell=bash
# A current Level Zero loader and its headers, beside whatever the system has. Sourced by scripts/setup.
#
# Debian 12 has loader 1.8; the driver needs headers of API 1.17, and its tests a loader of 1.21 or newer. Both come as binary
# packages of a newer Debian suite from the mirror that the system already uses, together with the C library they were built
# for, and are unpacked into <cache>/loader. apt works on a configuration of its own: no list, cache or state of the system
# is changed, and no privilege is needed. cmake/level_zero.cmake finds and uses the result.

datum_minimum_api=1.17
datum_minimum_loader=1.21

# True if version $1 is at least $2; an empty $1 is not.
datum_version_at_least() {
  [[ -n $1 && $(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1) == "$2" ]]
}

# Prints the API version of the headers below the folder $1, or nothing.
datum_header_version() {
  [[ -r $1/level_zero/ze_api.h ]] || return 0
  sed -n 's/.*ZE_API_VERSION_CURRENT *= *ZE_MAKE_VERSION( *\([0-9]*\), *\([0-9]*\) *).*/\1.\2/p' "$1/level_zero/ze_api.h" | head -n 1
}

# Prints the release of the loader that the system's dynamic linker finds, or nothing.
datum_system_loader_version() {
  local library
  library=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null | sed -n 's/.*libze_loader\.so\.1 .*=> //p' | head -n 1)
  [[ -n $library ]] || return 0
  readlink -f "$library" | sed -n 's/.*libze_loader\.so\.\([0-9.]*\)$/\1/p'
}

datum_loader_is_unpacked() {
  [[ -e $1/complete ]] && datum_version_at_least "$(datum_header_version "$1/usr/include")" "$datum_minimum_api"
}

# Prints the base addresses of the mirrors that the system takes its main component from, its own suite first.
# apt answers this for every format in which sources may be written.
datum_system_mirrors() {
  local codename
  codename=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")
  # shellcheck disable=SC2016 # apt replaces these names, not the shell
  apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    awk -v own="$codename" '$2 == "main" && $3 ~ /^[a-z+]+:/ { print ($1 == own ? 0 : 1), $3 }' |
    sort -s -k1,1 | awk '!seen[$2]++ { print $2 }' | head -n 3
}

# Prints the keyring that the system checks the mirror $1 with; nothing stands for apt's own trusted keys.
datum_mirror_keyring() {
  local mirror=${1%/} found
  found=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
    awk -v mirror="$mirror" '
      function finish() { if (uri && key != "") print key; uri = 0; key = "" }
      /^[ \t]*#/ { next }
      /^[ \t]*$/ { finish(); next }
      /^deb[ \t]/ {
        finish()
        if (index($0, mirror) && match($0, /signed-by=[^] \t]+/)) print substr($0, RSTART + 10, RLENGTH - 10)
        next
      }
      tolower($1) == "uris:" { if (index($0, mirror)) uri = 1 }
      tolower($1) == "signed-by:" { key = $2 }
      END { finish() }' | grep '^/' | head -n 1) || true
  if [[ -z $found && -r /usr/share/keyrings/debian-archive-keyring.gpg ]]; then
    found=/usr/share/keyrings/debian-archive-keyring.gpg
  fi
  printf '%s' "$found"
}

# Writes a private apt configuration into the folder $1 for mirror $2 and suite $3.
datum_write_apt_configuration() {
  local folder=$1 mirror=$2 suite=$3 keyring
  keyring=$(datum_mirror_keyring "$mirror")
  mkdir -p "$folder"/state/lists/partial "$folder"/cache/archives/partial "$folder"/packages
  : >"$folder/status"
  {
    printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\n' "$mirror" "$suite"
    [[ -z $keyring ]] || printf 'Signed-By: %s\n' "$keyring"
  } >"$folder/suite.sources"
  # The system's hooks act on the system's lists, which are none of our business; hence the clears.
  cat >"$folder/apt.conf" <<CONF
Dir::State "$folder/state";
Dir::State::status "$folder/status";
Dir::Cache "$folder/cache";
Dir::Etc::sourcelist "$folder/suite.sources";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::Log "$folder";
APT::Default-Release "";
Acquire::Languages "none";
Acquire::Retries "2";
Acquire::http::Timeout "30";
Acquire::https::Timeout "30";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
CONF
  if ((EUID == 0)); then
    # apt's unprivileged user cannot enter folders such as /root.
    printf 'APT::Sandbox::User "root";\n' >>"$folder/apt.conf"
  fi
}

# Prints the names of the loader's packages and of all that they depend on.
datum_loader_packages() {
  {
    printf 'libze1\nlibze-dev\n'
    apt-cache -c "$1/apt.conf" depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
      --no-enhances libze1 | grep '^[a-z0-9]'
  } | sort -u
}

# Downloads and unpacks; the work of one attempt, all in the folder $1, from the mirror $2, suite $3, apt options $4...
datum_unpack_loader() {
  local folder=$1 mirror=$2 suite=$3 packages package linker
  shift 3
  echo "mirror $mirror, suite $suite, apt options: $*"
  datum_write_apt_configuration "$folder" "$mirror" "$suite"
  apt-get -q -c "$folder/apt.conf" -o APT::Update::Error-Mode=any "$@" update || return
  mapfile -t packages < <(datum_loader_packages "$folder")
  (cd "$folder/packages" && apt-get -q -c "$folder/apt.conf" "$@" download "${packages[@]}") || return
  for package in "$folder"/packages/*.deb; do
    dpkg-deb -x "$package" "$folder/root" || return
  done
  linker=$(find "$folder/root/usr/lib" "$folder/root/lib" -name 'ld-linux*.so.*' -type f 2>/dev/null | head -n 1)
  # The proof that nothing is missing: the unpacked dynamic linker resolves every symbol of the unpacked loader.
  "$linker" --library-path "$(dirname "$linker")" --list "$(dirname "$linker")/libze_loader.so.1" || return
  datum_version_at_least "$(datum_header_version "$folder/root/usr/include")" "$datum_minimum_api" || {
    echo "the headers of suite $suite are of API $(datum_header_version "$folder/root/usr/include")"
    return 1
  }
  (cd "$folder/packages" && printf '%s\n' *.deb) >"$folder/root/complete"
}

# Tries the system's mirrors in turn, then again for suites whose release file has expired (snapshots of a mirror).
datum_unpack_loader_from_any_mirror() {
  local folder=$1 suite=$2 mirrors mirror
  mapfile -t mirrors < <(datum_system_mirrors)
  ((${#mirrors[@]})) || echo "the system's apt configuration names no mirror"
  for mirror in "${mirrors[@]}"; do
    rm -rf "${folder:?}"/*
    datum_unpack_loader "$folder" "$mirror" "$suite" && return
    rm -rf "${folder:?}"/*
    datum_unpack_loader "$folder" "$mirror" "$suite" -o Acquire::Check-Valid-Until=false && return
  done
  return 1
}

# Makes sure that there are headers to build with and, if it can, a current loader. Fails only without headers.
datum_fetch_level_zero() {
  local cache=$1 suite=${DATUM_SUITE:-forky} log=$1/log/loader.log system_loader system_api folder
  system_loader=$(datum_system_loader_version)
  system_api=$(datum_header_version /usr/include)
  if datum_version_at_least "$system_loader" "$datum_minimum_loader" && datum_version_at_least "$system_api" "$datum_minimum_api"; then
    return 0
  fi
  if datum_loader_is_unpacked "$cache/loader"; then
    return 0
  fi
  # What an interrupted run left behind; the lock of scripts/setup keeps others away.
  rm -rf "$cache"/loader.new.*
  folder=$(mktemp -d "$cache/loader.new.XXXXXX")
  if datum_run_with_progress compact "Fetching a current Level Zero loader (Debian $suite)" "$log" \
    datum_unpack_loader_from_any_mirror "$folder" "$suite"; then
    rm -rf "$cache/loader"
    chmod 755 "$folder/root"
    mv -T "$folder/root" "$cache/loader"
    rm -rf "$folder"
    return 0
  fi
  rm -rf "$folder"
  printf 'A current Level Zero loader could not be had from suite %s of this system'\''s Debian mirror.\n' "$suite"
  if datum_version_at_least "$system_api" "$datum_minimum_api"; then
    printf 'Going on with the headers (API %s) and the loader (%s) of the system.\n' "$system_api" "${system_loader:-none}"
    return 0
  fi
  printf 'The system has headers of API %s; building needs API %s or newer: either network access to the mirror, or the folder\n' \
    "${system_api:-none}" "$datum_minimum_api"
  printf '%s, copied from the cache folder of a clone on another machine.\n' "$cache/loader"
  return 1
}
