# shellcheck shell=bash
# Where things lie. Sourced by the scripts of this folder; sets and exports
#
#   datum_source   the source tree, by a name that build tools can digest
#   DATUM_CACHE    what is fetched or remembered between runs: loader, compiler cache, logs
#   datum_build    the folder of the build trees
#
# Verilator and make split names at blanks, and the linker's -Wl, at commas. A clone in such a place is built through a
# symbolic link, in a workspace of its own under the user's cache folder.

datum_plain_name='^[A-Za-z0-9_./+@%=~:-]+$'

# The first folder of the user's choice, of the desktop's convention, and of last resort whose name is plain.
datum_user_cache() {
  local folder
  for folder in "${XDG_CACHE_HOME:-}" "${HOME:+$HOME/.cache}" "/var/tmp/datum-$(id -u)"; do
    if [[ $folder == /* && $folder =~ $datum_plain_name ]]; then
      printf '%s\n' "$folder"
      return
    fi
  done
}

# Sets the three names for the clone in $1.
datum_enter_workspace() {
  local clone=$1 workspace link
  if [[ $clone =~ $datum_plain_name ]]; then
    datum_source=$clone
    datum_build=$clone/build
    workspace=$clone/.cache
  else
    workspace=$(datum_user_cache)/datum/$(printf '%s' "$clone" | sha256sum | cut -c1-12)
    mkdir -p "$workspace"
    link=$workspace/source
    if [[ $(readlink "$link" || true) != "$clone" ]]; then
      ln -sfn "$clone" "$link"
    fi
    datum_source=$link
    datum_build=$workspace/build
    if [[ -z ${DATUM_WORKSPACE_TOLD:-} ]]; then
      printf 'The path "%s" would confuse the build tools; building in %s instead.\n' "$clone" "$workspace" >&2
      export DATUM_WORKSPACE_TOLD=1
    fi
    workspace=$workspace/cache
  fi
  export DATUM_CACHE=${DATUM_CACHE:-$workspace}
  if [[ ! $DATUM_CACHE =~ $datum_plain_name || $DATUM_CACHE != /* ]]; then
    printf 'DATUM_CACHE must be an absolute path of plain characters, not "%s".\n' "$DATUM_CACHE" >&2
    return 2
  fi
  if ! mkdir -p "$DATUM_CACHE/log" 2>/dev/null || [[ ! -w $DATUM_CACHE/log ]]; then
    printf 'Cannot write to %s; set DATUM_CACHE to a folder that you may write to.\n' "$DATUM_CACHE" >&2
    return 1
  fi
  export CCACHE_DIR=${CCACHE_DIR:-$DATUM_CACHE/ccache}
  export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$datum_source}
  export datum_source datum_build
}
