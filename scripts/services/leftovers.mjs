// How each kind of thing we may leave behind is removed: processes first, for they write into the folders.
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { endProcess } from "./process-tree.mjs";

export async function clearAway(entries) {
  const processes = entries.filter((entry) => entry.process);
  await Promise.all(processes.map((entry) => endProcess(entry.process, entry.signal, entry.patienceMs)));
  for (const { container } of entries)
    if (container) spawnSync("docker", ["rm", "--force", "--volumes", container]);
  for (const { folder } of entries) if (folder) removeFolder(folder);
}

export function removeFolder(folder) {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
}
