/**
 * Records all stories into a folder, one file per kept history. Refuses to touch a file that is there: a history is
 * worth something because the code that recorded it is gone. See scripts/record-golden-histories.mjs.
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stories } from "./stories/index.ts";
import type { KeptHistory } from "./story.ts";
import { tell } from "./tell.ts";

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("Which folder? node record.ts <folder>");

const kept: KeptHistory[] = [];
for (const story of stories) kept.push(...(await tell(story)));
const fileOf = ({ name }: KeptHistory): string => join(folder, `${name}.json`);
const present = kept.filter((each) => existsSync(fileOf(each)));
if (present.length > 0) {
  console.error(
    `Nothing was written, because these histories are there already: ${present.map(fileOf).join(", ")}`,
  );
  process.exit(1);
}
mkdirSync(folder, { recursive: true });
for (const each of kept)
  writeFileSync(fileOf(each), `${JSON.stringify(each.history, null, 1)}\n`, { flag: "wx" });
console.log(`${kept.length} histories in ${folder}`);
