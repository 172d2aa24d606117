/**
 * Which process this is, so that others on the same machine can tell whether this very process is gone. A number alone
 * does not say: numbers are used again, and containers count for themselves.
 */
import { readFileSync, readlinkSync } from "node:fs";
import { hostname, platform } from "node:os";

export interface ProcessIdentity {
  readonly pid: number;
  /** What the number belongs to: this boot of this machine, and the space in which processes are counted. */
  readonly boot: string;
  readonly space: string;
  /** When the process began, as its system counts; null where that cannot be known. */
  readonly began: string | null;
}

/** Null where it cannot be known well enough. */
export function ownIdentity(): ProcessIdentity | null {
  const { pid } = process;
  if (platform() !== "linux") return { pid, boot: hostname(), space: platform(), began: null };
  try {
    const { boot, space } = linuxPlace();
    const stat = linuxStat(pid);
    return stat === null ? null : { pid, boot, space, began: stat.began };
  } catch {
    return null;
  }
}

/** True only where it is certain. */
export function isGone(identity: ProcessIdentity): boolean {
  try {
    return platform() === "linux" ? isGoneOnLinux(identity) : isGoneElsewhere(identity);
  } catch {
    return false;
  }
}

function isGoneOnLinux({ pid, boot, space, began }: ProcessIdentity): boolean {
  const here = linuxPlace();
  if (boot !== here.boot) return true;
  if (space !== here.space) return false;
  const stat = linuxStat(pid);
  if (stat === null) return !isThere(pid);
  // One that ended and that its parent has not asked about yet is a zombie.
  return stat.began !== began || stat.state === "Z" || stat.state === "X";
}

function isGoneElsewhere({ pid, boot, space }: ProcessIdentity): boolean {
  return boot === hostname() && space === platform() && !isThere(pid);
}

/** A process stays where it is. */
let ownPlace: { readonly boot: string; readonly space: string } | undefined;

function linuxPlace(): { readonly boot: string; readonly space: string } {
  ownPlace ??= {
    boot: readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(),
    space: readlinkSync("/proc/self/ns/pid"),
  };
  return ownPlace;
}

/** Null where there is no such process. */
function linuxStat(pid: number): { readonly state: string; readonly began: string } | null {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch (error) {
    const { code } = error as { readonly code?: string };
    if (code === "ENOENT" || code === "ESRCH") return null;
    throw error;
  }
  // The second field is a name in brackets, which may contain anything.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, began] = [fields[0], fields[19]];
  if (state === undefined || began === undefined) throw new Error("Unknown form of /proc/<pid>/stat.");
  return { state, began };
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { readonly code?: string }).code !== "ESRCH";
  }
}
