/** The words of a command line, as a shell would give them to the command; up to the first redirection or pipe. */
export function shellWords(line: string): string[] {
  const words: string[] = [];
  for (const [, single, double, plain, operator] of line.matchAll(tokens)) {
    if (operator !== undefined) break;
    words.push(single ?? double ?? plain ?? "");
  }
  return words;
}

const tokens = /'([^']*)'|"([^"]*)"|([^\s'"<>|&#]+)|([<>|&#])/g;
