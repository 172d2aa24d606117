// Ending a process together with everything it has started. Its process group is not enough: each process of
// PostgreSQL leads a group of its own.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/** Sends a signal and waits until all are gone; those that do not listen are killed. */
export async function endProcess(pid, signal, patienceMs = 8000) {
  let family = [];
  if (signal !== "SIGKILL") {
    signalTree(pid, "SIGCONT"); // frozen, it would not hear the next one
    family = treeOf(pid);
    signalProcess(pid, signal);
    if (await areGone(family, patienceMs)) return;
  }
  signalProcess(pid, "SIGSTOP"); // frozen, it cannot have another child while we look
  family.push(...treeOf(pid));
  for (const each of family) signalProcess(each, "SIGKILL");
  await areGone(family, patienceMs);
}

/** Answers whether the process is there. */
export function signalProcess(pid, signal) {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    return error.code === "EPERM";
  }
}

export function signalTree(pid, signal) {
  for (const each of treeOf(pid)) signalProcess(each, signal);
}

export function isAlive(pid) {
  // A zombie is dead, but where nobody collects it, its number stays.
  if (hasProc()) return !["", "Z", "X"].includes(procStat(pid).state);
  return signalProcess(pid, 0);
}

async function areGone(pids, patienceMs) {
  const endMs = Date.now() + patienceMs;
  while (pids.some(isAlive)) {
    if (Date.now() > endMs) return false;
    await delay(10);
  }
  return true;
}

function treeOf(pid) {
  const parents = parentTable();
  const family = [pid];
  for (const each of family) {
    for (const [child, parent] of parents) if (parent === each) family.push(child);
  }
  return family;
}

function parentTable() {
  if (hasProc()) {
    const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    return pids.map((pid) => [Number(pid), procStat(pid).parent]);
  }
  const rows = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" }).trim().split("\n");
  return rows.map((row) => row.trim().split(/\s+/).map(Number));
}

// Small Linux images have no ps, other systems no /proc.
function hasProc() {
  return existsSync("/proc/self/stat");
}

function procStat(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name before it, in parentheses, may hold anything.
    const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { state, parent: Number(parent) };
  } catch {
    return { state: "", parent: 0 };
  }
}
