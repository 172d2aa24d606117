import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callOff, hunt } from "./mutants/hunt.ts";
import { mutants } from "./mutants/list.ts";
import { edited, editsOf, type Mutant } from "./mutants/mutant.ts";
import { unseen } from "./mutants/unseen.ts";
import { library, repository, Workshop } from "./mutants/workshop.ts";

const all: readonly Mutant[] = [...mutants, ...unseen];

describe("the list of mutants", () => {
  test.each(all)("still fits the code: $name", (mutant) => {
    const texts = new Map<string, string>();
    for (const edit of editsOf(mutant)) {
      const file = join(repository, library, edit.file);
      texts.set(file, edited(texts.get(file) ?? readFileSync(file, "utf8"), edit));
    }
  });

  test("calls each by a name of its own", () => {
    const names = all.map(({ name }) => name);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  });

  test("says of each which promises it breaks", () => {
    const isPromise = (id: string): boolean => /^(INV-([1-9]|[1-4]\d|50)|LIV-[1-8])$/.test(id);
    for (const { name, guards } of all) {
      expect(guards, name).not.toEqual([]);
      expect(
        guards.filter((id) => !isPromise(id)),
        name,
      ).toEqual([]);
    }
  });
});

// Those that are noticed soon; `npm run mutants` hunts all of them.
const quick: readonly string[] = [
  "a claim keeps the token of the one before",
  "a run with a history is claimed as a fresh one",
  "crashes are not counted",
  "creating again replaces the instance",
  "the order of hand-over begins anew with every turn",
  "a suspended run is due too late",
  "an event does not wake the run that waits for it",
  "a wait is recorded without taking its event",
];

// Generous: beside others a few seconds become minutes.
const timeoutMs = 240_000;
const testMs = timeoutMs + 60_000;

describe("the simulation", () => {
  let workshop: Workshop;

  beforeAll(() => {
    workshop = new Workshop();
  });

  afterAll(() => {
    callOff();
    workshop.close();
  });

  test(
    "finds nothing wrong with the code as it is",
    async () => {
      const { original } = workshop;
      const verdict = await hunt({ mutated: original, original, seedsMax: 20, known: [] }, { timeoutMs });
      expect(verdict).toMatchObject({ kind: "survived" });
    },
    testMs,
  );

  test.each(quick)(
    "notices that %s",
    async (name) => {
      const mutant = mutants.find((each) => each.name === name);
      if (!mutant) throw new Error(`There is no mutant "${name}".`);
      const { original } = workshop;
      const mutated = workshop.make(mutant);
      const verdict = await hunt({ mutated, original, seedsMax: 100, known: [] }, { timeoutMs });
      expect(verdict).toMatchObject({ kind: "killed" });
    },
    testMs,
  );
});
