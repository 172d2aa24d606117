/** The orders a child gets, in a row. Whatever else wants it to stop is an order to stop. */
import type { Order } from "./messages.ts";

export interface Orders {
  next(): Promise<Order>;
}

/** Without its supervisor, or when somebody ends it politely. */
const stopAlone: Order = { kind: "stop", graceMs: 5000, isLast: false };

export function readOrders(): Orders {
  const waiting: Order[] = [];
  let deliver: ((order: Order) => void) | null = null;
  const add = (order: Order): void => {
    if (deliver) deliver(order);
    else waiting.push(order);
    deliver = null;
  };
  process.on("message", (order: Order) => add(order));
  process.once("disconnect", () => add(stopAlone));
  for (const signal of ["SIGTERM", "SIGHUP"] as const) process.once(signal, () => add(stopAlone));
  // A terminal sends Ctrl-C to both processes; the supervisor decides what it means.
  process.on("SIGINT", () => {});
  return {
    next: () =>
      new Promise((resolve) => {
        const order = waiting.shift();
        if (order) resolve(order);
        else deliver = resolve;
      }),
  };
}
