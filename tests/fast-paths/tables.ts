/** Everything that a SQL store has written, with names in place of the numbers of runs, which two stores may give differently. */

type Row = Readonly<Record<string, unknown>>;

/** Reads all rows of a table. */
export type ReadTable = (table: string) => Promise<readonly Row[]> | readonly Row[];

const tables = ["instance", "run", "ending", "step", "event", "log", "publication", "change"];

export async function readTables(read: ReadTable): Promise<Readonly<Record<string, readonly Row[]>>> {
  const found = new Map<string, readonly Row[]>();
  for (const table of tables) found.set(table, await read(table));
  const names = new Names(found.get("instance") ?? [], found.get("run") ?? []);
  return Object.fromEntries(
    [...found].map(([table, rows]) => {
      const named = rows.map((row) => names.replacedIn(table, row));
      return [table, named.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))];
    }),
  );
}

class Names {
  readonly #instances = new Map<number, unknown>();
  readonly #runs = new Map<number, string>();

  constructor(instances: readonly Row[], runs: readonly Row[]) {
    for (const { id, instance_id } of instances) this.#instances.set(Number(id), instance_id);
    for (const { id, instance, run_number } of runs)
      this.#runs.set(Number(id), `${this.#instances.get(Number(instance))}#${run_number}`);
  }

  replacedIn(table: string, row: Row): Row {
    const entries = Object.entries(row).map(([column, value]) => [column, this.#named(table, column, value)]);
    return Object.fromEntries(entries);
  }

  #named(table: string, column: string, value: unknown): unknown {
    if (value === null) return null;
    switch (`${table}.${column}`) {
      case "instance.id":
      case "run.instance":
      case "change.instance":
        return this.#instances.get(Number(value));
      case "run.id":
      case "run.previous_run":
        return this.#run(value);
      case "event.id":
        return this.#event(String(value));
      case "publication.seq":
        return undefined;
      case "publication.runs":
        return (JSON.parse(String(value)) as unknown[]).map((run) => this.#run(run)).sort();
      case "change.outcome": {
        const outcome = JSON.parse(String(value)) as { runId?: unknown };
        return { ...outcome, runId: this.#run(outcome.runId) };
      }
      default:
        return column === "run" ? this.#run(value) : value;
    }
  }

  #run(run: unknown): string {
    return this.#runs.get(Number(run)) ?? "one that is gone";
  }

  #event(key: string): string {
    const published = /^(~p:.*):(\d+):(\d+)$/.exec(key);
    if (published) return `${published[1]}:${this.#run(published[2])}:${published[3]}`;
    return key.replace(/^~(\d+):/, (_all, id) => `~${this.#instances.get(Number(id))}:`);
  }
}
