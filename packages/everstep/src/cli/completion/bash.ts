import { optionCases, valueCases, wordCases } from "./cases.ts";
import type { Offers } from "./offers.ts";

export function bashScript(offers: Offers): string {
  return `# Completion of everstep for bash. In ~/.bashrc: source <(everstep completion bash)
_everstep() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" path="" word offered=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) break ;; esac
    path="\${path:+$path }$word"
  done
  case "$previous" in
${valueCases(offers, {
  files: 'COMPREPLY=($(compgen -f -- "$current")); return',
  none: "return",
  words: (words) => `COMPREPLY=($(compgen -W "${words}" -- "$current")); return`,
})}
  esac
  case "$path" in
${wordCases(offers)}
  esac
  case "$path" in
${optionCases(offers)}
  esac
  COMPREPLY=($(compgen -W "$offered" -- "$current"))
}
complete -F _everstep everstep
`;
}
