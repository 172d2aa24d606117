import { EverstepError } from "../../model/error.ts";

/** `version` as the server says it: "8.0.36", "10.11.6-MariaDB-log". Older ones cannot pass over rows that are locked. */
export function requireVersion(version: string, place: string): void {
  const isMariaDb = /mariadb/i.test(version);
  const [major = 0, minor = 0] = version.split(/[.-]/).map(Number);
  const isRecent = isMariaDb ? major > 10 || (major === 10 && minor >= 6) : major >= 8;
  if (isRecent && !/tidb/i.test(version)) return;
  throw new EverstepError(
    "RUNTIME_UNSUPPORTED",
    `${place} is on a server of version ${version}. The MySQL store needs MySQL 8.0 or MariaDB 10.6, or later ones.`,
    { details: { version } },
  );
}
