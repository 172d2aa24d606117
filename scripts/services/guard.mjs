// Whatever we started or created is entered here first. A small process of its own, the guard, knows the list and
// reads a pipe from us: when the pipe ends, because we closed it or because we died, it clears the list away. So
// the end of a run, Ctrl-C and `kill -9` all leave the same: nothing.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { clearAway } from "./leftovers.mjs";

/** @type {Set<{ process: number, signal: string, patienceMs?: number } | { folder: string } | { container: string }>} */
const entries = new Set();
let guard;
let closing = false;

/** Once the list is being cleared nothing may be started any more: nobody would end it. */
export function refuseWhenClosing() {
  if (closing) throw new Error("everything is being stopped");
}

/** Whether it is us who end the servers. */
export function isClosing() {
  return closing;
}

/** Enters something to clear away; the answer takes it off the list again. */
export function keep(entry) {
  entries.add(entry);
  tell();
  return () => {
    if (entries.delete(entry)) tell();
  };
}

/** Clears away everything that is still on the list. */
export async function clearAll() {
  closing = true;
  if (guard?.exitCode === null && guard.signalCode === null) {
    guard.ref();
    guard.stdin.end();
    await once(guard, "exit");
    if (guard.exitCode === 0) return entries.clear();
  }
  await clearAway([...entries]);
  entries.clear();
}

function tell() {
  guard ??= startGuard();
  if (guard.stdin.writable) guard.stdin.write(`${JSON.stringify([...entries])}\n`);
}

function startGuard() {
  const script = fileURLToPath(new URL("./guard-process.mjs", import.meta.url));
  const child = spawn(process.execPath, [script], {
    stdio: ["pipe", "ignore", "ignore"],
    cwd: "/",
    detached: true,
    windowsHide: true,
  });
  child.once("error", () => {});
  child.stdin.on("error", () => {});
  child.unref();
  child.stdin.unref();
  return child;
}
