// The guard: keeps the last list it was told, and clears it away when the one who told it is gone.
import { createInterface } from "node:readline";
import { clearAway } from "./leftovers.mjs";

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});

let entries = [];
for await (const line of createInterface({ input: process.stdin })) entries = JSON.parse(line);
await clearAway(entries);
