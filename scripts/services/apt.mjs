// Installs servers and the browser on Debian and Ubuntu, for root only.
import { existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { say, secondsSince } from "../toolchain.mjs";
import { execute } from "./processes.mjs";

const policy = "/usr/sbin/policy-rc.d";
const settings = ["DPkg::Lock::Timeout=300", "Acquire::Retries=2", "Acquire::http::Timeout=30"];
const options = ["-q", "-y", ...settings.flatMap((setting) => ["-o", setting])];
const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C.UTF-8" };

/** Why apt-get cannot be used; undefined if it can. */
export function whyNoApt() {
  if (process.env.EVERSTEP_NO_APT === "1") return "EVERSTEP_NO_APT=1 forbids apt-get";
  const isDebian = existsSync("/etc/debian_version") && existsSync("/usr/bin/apt-get");
  if (!isDebian) return "this is not Debian or Ubuntu";
  return process.getuid?.() === 0 ? undefined : "only root may use apt-get";
}

export async function aptInstall(packages) {
  const startMs = Date.now();
  say(`Installing ${packages.join(", ")} with apt-get, once; EVERSTEP_NO_APT=1 turns this off ...`);
  // One source that does not answer makes this fail, and may not matter.
  const updateFailure = await updateLists().catch((error) => `${error.message}; `);
  const install = ["install", "--no-install-recommends", ...withoutStartingDaemons(), ...packages];
  // Interrupted while it unpacks, apt-get finishes that first, and must be let.
  const execution = { env, timeoutMs: 900_000, throwAway: "SIGINT", patienceMs: 300_000 };
  await execute("apt-get", [...options, ...install], execution).catch((error) => {
    throw new Error(`${updateFailure ?? ""}${error.message}`);
  });
  say(`Installed ${packages.join(", ")} (${secondsSince(startMs)}).`);
}

// The lists have a lock of their own, for which apt-get does not wait.
async function updateLists(attempts = 60) {
  try {
    await execute("apt-get", [...options, "update"], { env, timeoutMs: 300_000 });
  } catch (error) {
    if (!error.message.includes("lock") || attempts === 1) throw error;
    await delay(2000);
    await updateLists(attempts - 1);
  }
}

// Debian starts a daemon as soon as it is installed unless a policy forbids it. apt-get itself puts the policy there and
// takes it away: it holds the lock meanwhile, so two of us do not disturb each other, and it also does so if we die.
function withoutStartingDaemons() {
  const mark = `everstep ${process.pid}`;
  const forbid = `[ -e ${policy} ] || { printf '#!/bin/sh\\n# ${mark}\\nexit 101\\n' > ${policy} && chmod 755 ${policy}; }`;
  const allow = `if grep -qs '${mark}' ${policy}; then rm ${policy}; fi`;
  return ["-o", `DPkg::Pre-Invoke::=${forbid}`, "-o", `DPkg::Post-Invoke::=${allow}`];
}
