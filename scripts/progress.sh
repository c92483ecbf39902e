# shellcheck shell=bash
# Running long commands so that somebody who watches knows that they live. Sourced by the scripts of this folder.

datum_terminal_width() {
  local columns
  columns=$(tput cols 2>/dev/null) || columns=80
  printf '%s\n' "$((columns > 20 ? columns - 1 : 79))"
}

# Reads a command's output, appends it to the log $2, and shows what $3 asks for:
#   compact   one line that is rewritten on a terminal, and one line every ten seconds elsewhere
#   full      every line; on a terminal a line of ninja's counter overwrites the one before
# In both, a silence of fifteen seconds is answered with a sign of life.
datum_show_progress() {
  local title=$1 log=$2 mode=$3 start=$SECONDS shown=$SECONDS line='' part='' width terminal=0 rewritten=0 status
  [[ -t 1 ]] && terminal=1
  width=$(datum_terminal_width)
  while true; do
    status=0
    IFS= read -r -t 1 part || status=$?
    line+=$part
    if ((status > 128)); then
      # Nothing came within a second; a partial line stays in `line` and is continued.
      if ((SECONDS - shown >= 15)); then
        shown=$SECONDS
        ((rewritten)) && printf '\n' && rewritten=0
        printf '  ... %s: still working after %d s\n' "$title" "$((SECONDS - start))"
      fi
      continue
    fi
    ((status == 0)) || [[ -n $line ]] || break
    printf '%s\n' "$line" >>"$log"
    line=${line##*$'\r'}
    if [[ $mode == full ]]; then
      shown=$SECONDS
      if ((terminal)) && [[ $line == \[*/*\]* ]]; then
        printf '\r\033[K%s' "${line:0:width}"
        rewritten=1
      else
        ((rewritten)) && printf '\n' && rewritten=0
        printf '%s\n' "$line"
      fi
    elif [[ -n $line ]]; then
      part="  $title, $((SECONDS - start)) s: $line"
      if ((terminal)); then
        printf '\r\033[K%s' "${part:0:width}"
        rewritten=1
        shown=$SECONDS
      elif ((SECONDS - shown >= 10)); then
        printf '%s\n' "${part:0:110}"
        shown=$SECONDS
      fi
    fi
    line=''
    ((status == 0)) || break
  done
  if ((rewritten)); then
    if [[ $mode == full ]]; then printf '\n'; else printf '\r\033[K'; fi
  fi
}

# datum_run_with_progress <compact|full> <title> <log> <command>...
# Runs the command without input. Returns its status; when a compact one fails, the end of its log is shown.
datum_run_with_progress() {
  local mode=$1 title=$2 log=$3 start=$SECONDS before status
  shift 3
  : >>"$log"
  before=$(wc -l <"$log")
  printf '%s ...\n' "$title"
  set +e
  "$@" </dev/null 2>&1 | datum_show_progress "$title" "$log" "$mode"
  status=${PIPESTATUS[0]}
  set -e
  if ((status == 0)); then
    printf '%s: done in %d s\n' "$title" "$((SECONDS - start))"
  else
    if [[ $mode == compact ]]; then
      tail -n "+$((before + 1))" "$log" | tail -n 20 | sed 's/^/    /'
    fi
    printf '%s: failed after %d s (status %d, log: %s)\n' "$title" "$((SECONDS - start))" "$status" "$log"
  fi
  return "$status"
}
