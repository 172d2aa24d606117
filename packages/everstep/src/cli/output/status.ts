/** How statuses look. */
import type { InstanceStatus } from "../../model/instance.ts";
import type { WireStep } from "../../wire/index.ts";
import { type Painted, painted, type Style } from "./paint.ts";
import type { Cell } from "./table.ts";

const styles: Readonly<Record<InstanceStatus, Style>> = {
  active: "cyan",
  waiting: "yellow",
  paused: "magenta",
  complete: "green",
  errored: "red",
  terminated: "dim",
};

export function statusStyle(status: string): Style {
  return styles[status as InstanceStatus] ?? "bold";
}

export function statusCell(status: string): Cell {
  return { text: status, style: statusStyle(status) };
}

const marks: Readonly<Record<WireStep["status"], readonly [string, Style]>> = {
  completed: ["✓", "green"],
  errored: ["✗", "red"],
  waiting: ["○", "yellow"],
  running: ["●", "cyan"],
};

export function stepMark(status: WireStep["status"]): Painted {
  const [mark, style] = marks[status] ?? ["?", "bold"];
  return painted(style, mark);
}
