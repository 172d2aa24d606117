/** Facts about one thing, one per line, their names in a column. */
import type { Output, Piece } from "./output.ts";
import { painted } from "./paint.ts";

export type Fact = readonly [name: string, ...pieces: readonly Piece[]];

export function writeFacts(facts: readonly Fact[], out: Output): void {
  const width = Math.max(0, ...facts.map(([name]) => name.length));
  for (const [name, ...pieces] of facts) out.line("  ", painted("dim", name.padEnd(width)), "  ", ...pieces);
}
