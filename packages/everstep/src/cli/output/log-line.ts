/** One log line of a workflow. */
import type { WireLogLine } from "../../wire/index.ts";
import type { Piece } from "./output.ts";
import { painted, type Style } from "./paint.ts";
import { shortValue } from "./value.ts";

const styles: Readonly<Record<string, Style>> = { debug: "dim", info: "blue", warn: "yellow", error: "red" };

/** `info   charge, attempt 2  [billing]  card charged  {"cents":500}  (replay)` */
export function logPieces(line: WireLogLine): readonly Piece[] {
  const { level, stepKey, attempt, category, message, data, isReplay } = line;
  const again = attempt === null || attempt === 1 ? "" : `, attempt ${attempt}`;
  const step = stepKey === null ? "" : `  ${stepKey}${again}`;
  return [
    painted(styles[level] ?? "bold", level.padEnd(5)),
    painted("cyan", step),
    painted("dim", `  [${category}]`),
    `  ${message}`,
    painted("dim", data === null || data === undefined ? "" : `  ${shortValue(data, 400)}`),
    painted("dim", isReplay ? "  (replay)" : ""),
  ];
}
