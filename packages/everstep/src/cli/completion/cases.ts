/** The lines of `case` that the scripts for bash and zsh have in common. They only ever hold words of our own. */
import type { Offer, Offers } from "./offers.ts";

interface ValueLines {
  readonly files: string;
  readonly none: string;
  words(words: string): string;
}

export function valueCases({ values }: Offers, lines: ValueLines): string {
  return Array.from(values, ([option, offered]) => {
    const line = typeof offered === "string" ? lines[offered] : lines.words(offered.join(" "));
    return `    ${option}) ${line} ;;`;
  }).join("\n");
}

/** The words that follow exactly these. */
export function wordCases({ words }: Offers): string {
  return Array.from(words, ([path, offers]) => `    "${path}") offered="${textOf(offers)}" ;;`).join("\n");
}

/** The options of a command, whatever arguments it has been given. Longer names first: the first case that fits wins. */
export function optionCases({ options }: Offers): string {
  return [...options]
    .sort(([a], [b]) => b.length - a.length)
    .map(([path, offers]) => `    "${path}"|"${path} "*) offered="$offered ${textOf(offers)}" ;;`)
    .join("\n");
}

function textOf(offers: readonly Offer[]): string {
  return offers.map(({ text }) => text).join(" ");
}
