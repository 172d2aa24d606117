// Processes that stand apart from the terminal: Ctrl-C does not reach them, we decide when they end. Whatever
// happens to us, the guard ends them.
import { spawn } from "node:child_process";
import { keep, refuseWhenClosing } from "./guard.mjs";
import { endProcess } from "./process-tree.mjs";

/** `ended` resolves to, and `ending` becomes, an exit code, a signal, or why it could not be started. */
export function spawnApart(command, argv, { throwAway = "SIGKILL", patienceMs, ...options }) {
  refuseWhenClosing();
  const child = spawn(command, argv, { ...options, detached: true, windowsHide: true });
  const release = child.pid ? keep({ process: child.pid, signal: throwAway, patienceMs }) : () => {};
  const apart = { child, pid: child.pid, ending: undefined };
  apart.ended = new Promise((resolve) => {
    const finish = (ending) => {
      release();
      apart.ending = ending;
      resolve(ending);
    };
    child.once("error", (error) => finish(error.message));
    child.once("exit", (exitCode, signal) => finish(signal ?? exitCode));
  });
  return apart;
}

/** Runs a program to its end and resolves to what it printed; fails with its last lines. */
export async function execute(command, argv, { timeoutMs = 120_000, ...options } = {}) {
  const { child, pid, ended } = spawnApart(command, argv, { stdio: ["ignore", "pipe", "pipe"], ...options });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
  }
  const timer = setTimeout(() => endProcess(pid, "SIGKILL"), timeoutMs);
  const ending = await ended;
  clearTimeout(timer);
  if (ending !== 0) throw new Error(`${command} failed (${ending}): ${lastLines(output)}`);
  return output;
}

export function lastLines(text, count = 4) {
  return text.trim().split("\n").slice(-count).join(" / ");
}
