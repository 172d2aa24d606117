import { optionCases, valueCases, wordCases } from "./cases.ts";
import type { Offers } from "./offers.ts";

export function zshScript(offers: Offers): string {
  return `#compdef everstep
# Completion of everstep for zsh. In ~/.zshrc, after compinit: source <(everstep completion zsh)
_everstep() {
  local previous="\${words[CURRENT-1]}" typed="" word offered=""
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$word" in -*) break ;; esac
    typed="\${typed:+$typed }$word"
  done
  case "$previous" in
${valueCases(offers, {
  files: "_files; return",
  none: "return",
  words: (words) => `compadd -- ${words}; return`,
})}
  esac
  case "$typed" in
${wordCases(offers)}
  esac
  case "$typed" in
${optionCases(offers)}
  esac
  compadd -- \${=offered}
}
compdef _everstep everstep
`;
}
