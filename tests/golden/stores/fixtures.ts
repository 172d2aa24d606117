/** The stores that were recorded, and copies of them to work on. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { type Copy, loaders, type StoreName } from "./load.ts";
import type { GoldenRecords } from "./read.ts";

export interface Fixture {
  /** "sqlite-v1" */
  readonly name: string;
  readonly store: StoreName;
  readonly version: number;
  /** False where there is no server to load it into. */
  readonly canLoad: boolean;
  /** What was read of it by the code that wrote it. */
  records(): GoldenRecords;
  /** A copy of its own. */
  load(): Promise<Copy>;
}

const folder = join(import.meta.dirname, "fixtures");

export const fixtures: readonly Fixture[] = readdirSync(folder)
  .flatMap((file) => {
    const match = /^((sqlite|postgres|mysql|redis)-v(\d+))\.(db\.gz|sql|json)$/.exec(file);
    return match ? [fixture(file, match[1] ?? "", match[2] as StoreName, Number(match[3]))] : [];
  })
  .sort((one, other) => one.name.localeCompare(other.name));

function fixture(file: string, name: string, store: StoreName, version: number): Fixture {
  const read = (): Buffer => readFileSync(join(folder, file));
  const { url, load } = loaders[store];
  return {
    name,
    store,
    version,
    canLoad: store === "sqlite" || url !== undefined,
    records: () => JSON.parse(gunzipSync(readFileSync(join(folder, `${name}.records.json.gz`))).toString()),
    load: () => load(read(), url ?? ""),
  };
}
