# shellcheck shell=bash
# Configuring and building one preset. Sourced by the scripts of this folder, after workspace.sh and progress.sh.

# datum_build_preset <preset> <build folder> "<target>..." [<cmake argument>...]; no target: all
datum_build_preset() {
  local preset=$1 folder=$2 log names=() wanted=()
  read -ra names <<<"$3"
  ((${#names[@]} == 0)) || wanted=(--target "${names[@]}")
  shift 3
  log=$DATUM_CACHE/log/$(basename "$folder").log
  datum_run_with_progress compact "Configuring $(basename "$folder")" "$log" \
    cmake -S "${datum_source:?}" --preset "$preset" -B "$folder" "-DDATUM_LOADER_ROOT=${DATUM_LOADER_ROOT:-$DATUM_CACHE/loader}" -DDATUM_PRECOMPILED_HEADERS=ON \
    -DDATUM_UNITY_BUILD=ON -DDATUM_DEBUG_INFO=lines "$@" || return
  # NINJA_STATUS: how far it is, and for how many seconds it has run.
  NINJA_STATUS='[%f/%t, %e s] ' datum_run_with_progress full "Building $(basename "$folder")" "$log" \
    cmake --build "$folder" "${wanted[@]}" -j "$(datum_jobs)"
}

# As many jobs as processors, but no more than memory allows: a Verilated source may take a gigabyte and a half.
datum_jobs() {
  local processors memory_kib by_memory
  processors=$(nproc)
  memory_kib=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)
  by_memory=$((memory_kib / (1536 * 1024)))
  ((by_memory >= 1)) || by_memory=1
  printf '%s\n' "$((by_memory < processors ? by_memory : processors))"
}
