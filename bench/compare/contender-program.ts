/** Measures one library in this process: see `contender-process.ts`. */
import { reasonText } from "../reason-text.ts";
import type { AlternativeModule } from "./alternative.ts";
import { measurements } from "./measurements.ts";
import type { Task, Telling } from "./messages.ts";
import { Sightings } from "./sightings.ts";

process.once("disconnect", () => process.exit(1));
// Whatever goes on in a library after it was closed is no concern of ours; what matters is waited for.
process.on("unhandledRejection", (reason) => process.stderr.write(`${reasonText(reason)}\n`));
process.once("message", (task: Task) => {
  measureAll(task).then(
    () => tell({ kind: "done" }),
    (reason: unknown) => tell({ kind: "failed", reason: reasonText(reason) }),
  );
});

async function measureAll({ adapter, loader, store, room, sizes }: Task): Promise<void> {
  const { open } = (await import(adapter)) as AlternativeModule;
  const { load } = loader === null ? { load: loadNothing } : await import(loader);
  const sightings = new Sightings();
  const contender = await open({ store, room, load, observer: sightings });
  tell({ kind: "opened", settings: contender.settings });
  for (const [what, measure] of Object.entries(measurements)) {
    tell({ kind: "measuring", what });
    sightings.forget();
    try {
      const figures = await measure({ contender, sightings, sizes });
      if (figures === null) tell({ kind: "lacks", what, reason: "it has no such thing" });
      else tell({ kind: "measured", figures });
    } catch (reason) {
      tell({ kind: "lacks", what, reason: reasonText(reason) });
    }
  }
  // Some wait for work that is left over; the process is ended anyway.
  await Promise.race([contender.close(), new Promise((go) => setTimeout(go, 2000))]);
}

async function loadNothing(specifier: string): Promise<never> {
  throw new Error(`"${specifier}" was not installed`);
}

function tell(telling: Telling): void {
  process.send?.(telling);
}
