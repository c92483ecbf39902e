# shellcheck shell=bash
# A Debian system in a folder, with the programs that use Level Zero there. Sourced by tests/clients/prepare, after
# level_zero.sh, which knows the mirrors.
#
# Debian 12 has no package that uses the loader. The folder is made by mmdebstrap from a newer suite of the mirror that the
# system already uses; nothing of the system is touched. It takes about 2 GB and is kept in the cache.

datum_client_suite=${DATUM_SUITE:-forky}
# hwloc and its Level Zero plugin, OpenCL with PoCL's Level Zero plugin, MPICH, UCX, and what builds a small MPI program.
datum_client_packages=(hwloc libhwloc-plugins clinfo pocl-opencl-icd mpich libmpich-dev ucx-utils libucx0 libze1 libze-dev gcc libc6-dev)

# Changes with this file: a folder of an older recipe is made again.
datum_client_recipe() {
  printf '%s %s\n' "$datum_client_suite" "$(sha256sum "${BASH_SOURCE[0]}" | cut -c1-16)"
}

datum_client_folder_is_complete() {
  [[ -e $1/datum/complete && $(cat "$1/datum/complete") == "$(datum_client_recipe)" ]]
}

# datum_bootstrap_clients <folder> <mirror> <mmdebstrap option>...: one attempt.
datum_bootstrap_clients() {
  local folder=$1 mirror=$2 keyring packages source=deb
  shift 2
  keyring=$(datum_mirror_keyring "$mirror")
  [[ -z $keyring ]] || source="deb [signed-by=$keyring]"
  packages=$(IFS=, && printf '%s' "${datum_client_packages[*]}")
  echo "mirror $mirror, suite $datum_client_suite, options: $*"
  rm -rf "$folder"
  mmdebstrap --variant=apt --aptopt='APT::Install-Recommends "false"' --aptopt='Acquire::Retries "2"' "$@" \
    --include="$packages" "$datum_client_suite" "$folder" "$source $mirror $datum_client_suite main" || return
  mkdir -p "$folder"/datum/{lib,scratch}
  datum_client_recipe >"$folder/datum/complete"
}

# Tries the system's mirrors in turn, then again for suites whose release file has expired (snapshots of a mirror).
datum_bootstrap_clients_from_any_mirror() {
  local folder=$1 mirrors mirror
  mapfile -t mirrors < <(datum_system_mirrors)
  ((${#mirrors[@]})) || echo "the system's apt configuration names no mirror"
  for mirror in "${mirrors[@]}"; do
    datum_bootstrap_clients "$folder" "$mirror" && return
    datum_bootstrap_clients "$folder" "$mirror" --aptopt='Acquire::Check-Valid-Until "false"' && return
  done
  return 1
}

# Makes sure that <cache>/clients is there; fails with a sentence.
datum_fetch_clients() {
  local cache=$1 log=$1/log/clients.log
  if datum_client_folder_is_complete "$cache/clients"; then
    return 0
  fi
  if ! command -v mmdebstrap >/dev/null; then
    echo "mmdebstrap is missing, which makes the folder that the clients run in; scripts/setup --all installs it"
    return 1
  fi
  rm -rf "$cache/clients" "$cache"/clients.new
  if ! datum_run_with_progress compact "Making a Debian $datum_client_suite folder with Level Zero's clients" "$log" \
    datum_bootstrap_clients_from_any_mirror "$cache/clients.new"; then
    rm -rf "$cache/clients.new"
    echo "no folder with Level Zero's clients could be made from suite $datum_client_suite of this system's Debian mirror; the log is $log"
    return 1
  fi
  mv -T "$cache/clients.new" "$cache/clients"
}
