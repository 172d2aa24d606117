/** Copies of the library's sources, one as it is and one per mutant, in a temporary folder. The tree is only read. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { edited, editsOf, type Mutant } from "./mutant.ts";

export const repository = fileURLToPath(new URL("../../../", import.meta.url));
export const library = join(repository, "packages/everstep/src");

export class Workshop {
  readonly folder: string = mkdtempSync(join(tmpdir(), "everstep-mutants-"));
  /** The sources as they were when work began: whatever is edited meanwhile, all mutants differ from the same. */
  readonly original: string = join(this.folder, "original/src");
  #copies = 0;

  constructor() {
    mkdirSync(this.original, { recursive: true });
    cpSync(library, this.original, { recursive: true });
    this.#equip(join(this.folder, "original"));
  }

  /** A copy with the mutant's edits made: the folder that stands for packages/everstep/src. */
  make(mutant: Mutant): string {
    const home = join(this.folder, `mutant-${++this.#copies}`);
    const sources = join(home, "src");
    cpSync(this.original, sources, { recursive: true });
    this.#equip(home);
    for (const edit of editsOf(mutant)) {
      const file = join(sources, edit.file);
      writeFileSync(file, edited(readFileSync(file, "utf8"), edit));
    }
    return sources;
  }

  remove(sources: string): void {
    rmSync(join(sources, ".."), { recursive: true, force: true });
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #equip(home: string): void {
    writeFileSync(join(home, "package.json"), '{ "type": "module" }\n');
    symlinkSync(join(repository, "node_modules"), join(home, "node_modules"));
  }
}
