/** A SQLite file that is replaced by its backup, with every process that uses it stopped. */
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

export class BackedUpFile {
  readonly #folder = mkdtempSync(join(tmpdir(), "everstep-restore-"));
  readonly path: string = join(this.#folder, "app.db");
  readonly #backup = join(this.#folder, "backup.db");

  async keep(): Promise<void> {
    const database = new DatabaseSync(this.path);
    database.exec(`VACUUM INTO '${this.#backup}'`);
    database.close();
  }

  async goBack(): Promise<null> {
    for (const end of ["", "-wal", "-shm"]) rmSync(`${this.path}${end}`, { force: true });
    copyFileSync(this.#backup, this.path);
    return null;
  }

  async close(): Promise<void> {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
