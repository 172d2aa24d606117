// Where a server keeps its data. Tests want memory; measurements want a disk that must be waited for.
import { chmodSync, chownSync, mkdtempSync, readFileSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const memory = "/dev/shm";
const memoryFreeBytesMin = 2 ** 30;
const tmpfsType = 0x01021994;

/** Creates a folder that belongs to the account. */
export function createFolder(name, { durable, account }) {
  const folder = mkdtempSync(join(durable ? diskPlace() : fastPlace(), `everstep-${name}-`));
  if (process.getuid?.() === 0) chownSync(folder, account.uid, account.gid);
  return folder;
}

/** Creates a folder for files that a command makes and forgets; as in /tmp, all accounts may make some. */
export function createTemporaryFolder() {
  const folder = mkdtempSync(join(fastPlace(), "everstep-tmp-"));
  chmodSync(folder, 0o1777);
  return folder;
}

function fastPlace() {
  const space = spaceOf(memory);
  return space && space.bavail * space.bsize >= memoryFreeBytesMin ? memory : tmpdir();
}

function diskPlace() {
  return [tmpdir(), "/var/tmp"].find((place) => spaceOf(place)?.type !== tmpfsType) ?? tmpdir();
}

function spaceOf(place) {
  try {
    return statfsSync(place);
  } catch {
    return undefined;
  }
}

/** A file that may not be there (yet). */
export function readOrEmpty(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
