/** Names for data on a server that others may use too. */
import { randomBytes } from "node:crypto";

export interface Namespaces {
  take(): string;
  /** Forgets one that was removed. */
  gone(name: string): void;
  /** Those that are still there. */
  readonly left: readonly string[];
}

export function namespaces(): Namespaces {
  const prefix = `bench_${randomBytes(4).toString("hex")}`;
  const taken = new Set<string>();
  let made = 0;
  return {
    take() {
      const name = `${prefix}_${++made}`;
      taken.add(name);
      return name;
    },
    gone: (name) => void taken.delete(name),
    get left() {
      return [...taken];
    },
  };
}

export function serverUrl(variable: string): string {
  const url = process.env[variable];
  if (url) return url;
  throw new MissingServer(
    `${variable} is not set, so there is no server to measure. Set it, or start the bench with npm run bench, which starts one.`,
  );
}

export class MissingServer extends Error {}
