# shellcheck shell=bash
# Completion of `datum` for bash. The program itself says which words may follow, so this file never lags behind it.
_datum() {
  local words
  words=$("${COMP_WORDS[0]}" complete-words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null) || return
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}")
  # What is to be continued gets no blank.
  if ((${#COMPREPLY[@]} == 1)) && [[ ${COMPREPLY[0]} == *[:=] ]]; then
    compopt -o nospace 2>/dev/null
  fi
}
complete -o default -F _datum datum
