/** Workflows as data, so that a test can make any number of them and change them at random. */
import type { WorkflowStep } from "everstep";
import fc from "fast-check";
import type { Code } from "./deploy.ts";

export type Kind = "do" | "sleep" | "wait";

export type Part =
  | { readonly step: string; readonly kind: Kind }
  | { readonly join: "all" | "race"; readonly branches: readonly (readonly Part[])[] };

export type Program = readonly Part[];

/** Calls in a program have different names; whoever uses one name for two kinds of step is wrong without any history. */
const names = ["a", "b", "c", "d", "e", "f", "g", "h"];

export function codeOf(program: Program): Code {
  return (step) => runAll(program, step);
}

async function runAll(program: Program, step: WorkflowStep): Promise<string> {
  let said = "";
  for (const part of program) said += await runPart(part, step);
  return said;
}

async function runPart(part: Part, step: WorkflowStep): Promise<string> {
  if ("join" in part) {
    const branches = part.branches.map((branch) => runAll(branch, step));
    return part.join === "all" ? (await Promise.all(branches)).join("") : await Promise.race(branches);
  }
  switch (part.kind) {
    case "do":
      return step.do(part.step, async () => part.step);
    case "sleep":
      await step.sleep(part.step, "30 minutes");
      return "";
    case "wait":
      return (await step
        .waitForEvent<string>(part.step, { type: "paid", timeout: "40 minutes" })
        .catch(() => null))
        ? "!"
        : "?";
  }
}

/** What came out of the generator before its steps have names. */
type Shape = Kind | { readonly join: "all" | "race"; readonly branches: readonly (readonly Shape[])[] };

const kinds = fc.constantFrom<Kind>("do", "do", "do", "sleep", "wait");
const joined: fc.Arbitrary<Shape> = fc.record({
  join: fc.constantFrom("all" as const, "race" as const),
  branches: fc.array(fc.array(kinds, { minLength: 1, maxLength: 2 }), { minLength: 2, maxLength: 3 }),
});
const shapes = fc.array(fc.oneof({ weight: 3, arbitrary: kinds }, { weight: 1, arbitrary: joined }), {
  minLength: 2,
  maxLength: 6,
  size: "max",
});

export const programs: fc.Arbitrary<Program> = fc
  .tuple(shapes, fc.shuffledSubarray(names, { minLength: names.length }))
  .map(([shape, order]) => named(shape, order));

function named(shape: readonly Shape[], order: readonly string[]): Program {
  const free = [...order];
  const part = (each: Shape): readonly Part[] => {
    if (typeof each !== "string") {
      return [{ join: each.join, branches: each.branches.map((branch) => branch.flatMap(part)) }];
    }
    const step = free.shift();
    return step === undefined ? [] : [{ step, kind: each }];
  };
  return shape.flatMap(part);
}

function swapped(program: Program, place: number): Program {
  const [first, second] = program.slice(place, place + 2);
  if (!first || !second) return program;
  return [...program.slice(0, place), second, first, ...program.slice(place + 2)];
}

/** A program as a hurried colleague leaves it. */
export function changed(program: Program): fc.Arbitrary<Program> {
  const at = fc.nat({ max: Math.max(0, program.length - 1) });
  const fresh = fc.record({ step: fc.constantFrom("x", "y"), kind: kinds });
  return fc.oneof(
    fc.constant(program),
    at.map((place) => program.filter((_, index) => index !== place)),
    fc.tuple(at, fresh).map(([place, part]) => [...program.slice(0, place), part, ...program.slice(place)]),
    fresh.map((part) => [...program, part]),
    fc
      .tuple(at, fc.constantFrom<Kind>("do", "sleep", "wait"))
      .map(([place, kind]) =>
        program.map((part, index) => (index === place && "step" in part ? { ...part, kind } : part)),
      ),
    at.map((place) => [...program.slice(place), ...program.slice(0, place)]),
    at.map((place) => swapped(program, place)),
    programs,
  );
}
