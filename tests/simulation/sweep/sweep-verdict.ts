/** What a calm world must come to, and what a world in which one call went wrong must have in common with it. */
import type { Finding } from "../../../packages/everstep/src/testing/simulate/finding.ts";
import type { Weather } from "../../../packages/everstep/src/testing/simulate/weather.ts";
import type { BodyUpshot, RunUpshot } from "../small-world/upshot.ts";
import type { Strike } from "../strikes.ts";
import type { SweepProgram, Swept } from "./sweep-case.ts";

export type Came = Pick<Swept, "upshot" | "rows" | "elapsedMs">;

export interface VerdictParts {
  readonly program: SweepProgram;
  readonly strike: Strike;
  readonly settings: Weather["settings"];
}

export function* calmVerdict({ upshot, rows }: Came, program: SweepProgram): Generator<Finding> {
  const { comesTo, starts = {}, rows: wanted = [], stops } = program;
  for (const name of new Set([...upshot.keys(), ...Object.keys(comesTo)])) {
    const found = upshot.get(name);
    const [came, expected] = [found?.came ?? "absent", comesTo[name] ?? "absent"];
    if (came !== expected)
      yield { invariant: "INV-17", message: `${name} came to "${came}", not to "${expected}"` };
    for (const [key, body] of Object.entries(found?.bodies ?? {})) {
      const times = starts[`${name}/${key}`] ?? 1;
      // A stop may cut a body off.
      if (body.starts !== times && !stops)
        yield {
          invariant: "INV-9",
          message: `the body of ${name}/${key} began ${body.starts} times, not ${times}`,
        };
    }
  }
  if (rows.join() !== wanted.join())
    yield { invariant: "INV-11", message: `the author's rows are [${rows.join()}], not [${wanted.join()}]` };
}

export function verdict(calm: Came, struck: Came, parts: VerdictParts): readonly Finding[] {
  const { mayEnd = {}, cutOff = [] } = parts.program;
  const findings: Finding[] = [];
  let isSame = true;
  for (const name of new Set([...calm.upshot.keys(), ...struck.upshot.keys()])) {
    const expected = calm.upshot.get(name);
    const found = struck.upshot.get(name);
    if (expected && expected.came === found?.came) {
      if (!cutOff.includes(name)) findings.push(...runVerdict(name, expected, found, parts));
      continue;
    }
    isSame = false;
    const [came, wanted] = [found?.came ?? "absent", expected?.came ?? "absent"];
    if (!mayEnd[name]?.includes(came))
      findings.push({ invariant: "INV-17", message: `${name} came to "${came}", not to "${wanted}"` });
  }
  for (const key of parts.program.onceAtMost ?? []) {
    const [, name = "", step = ""] = /^([^/]+\/[^/]+\/\d+)\/(.*)$/.exec(key) ?? [];
    const times = struck.upshot.get(name)?.bodies[step]?.starts ?? 0;
    if (times > 1) findings.push({ invariant: "INV-9", message: `the body of ${key} began ${times} times` });
  }
  const [rows, wanted] = [struck.rows.join(), calm.rows.join()];
  if (isSame && rows !== wanted)
    findings.push({ invariant: "INV-11", message: `the author's rows are [${rows}], not [${wanted}]` });
  return [...findings, ...timeVerdict(calm, struck, parts)];
}

function* runVerdict(
  name: string,
  expected: RunUpshot,
  found: RunUpshot,
  parts: VerdictParts,
): Generator<Finding> {
  const [left, wanted] = [found.details.join("\n"), expected.details.join("\n")];
  if (left !== wanted) yield { invariant: "INV-16", message: `${name} left\n${left}\nnot\n${wanted}` };
  for (const [key, body] of Object.entries(expected.bodies)) {
    const other = found.bodies[key];
    if (other) yield* bodyVerdict(`${name}/${key}`, body, other, parts);
  }
}

function* bodyVerdict(
  key: string,
  expected: BodyUpshot,
  found: BodyUpshot,
  { strike, program }: VerdictParts,
): Generator<Finding> {
  const isError = strike.kind === "error";
  // A start that was cut off is none of the attempts a step has; the next one may be the one that succeeds.
  const isFit =
    isError || expected.gaveUp ? found.attempts === expected.attempts : found.attempts <= expected.attempts;
  if (!isFit)
    yield {
      invariant: "INV-10",
      message: `${key} took ${found.attempts} attempts, not ${expected.attempts}`,
    };
  // Nobody died, lost a lease or stopped: every body began as often as if nothing had happened.
  if (isError && !program.stops && found.starts !== expected.starts)
    yield {
      invariant: "INV-9",
      message: `the body of ${key} began ${found.starts} times, not ${expected.starts}`,
    };
}

/** LIV-2, LIV-3: a fault costs its own time, a lease, and a few polls. */
function* timeVerdict(calm: Came, struck: Came, parts: VerdictParts): Generator<Finding> {
  const { program, strike, settings } = parts;
  const costsMs = (strike.lasts + 1) * settings.lease + 3 * settings.poll + (program.againMs ?? 0);
  const boundMs = calm.elapsedMs + costsMs;
  if (struck.elapsedMs <= boundMs) return;
  const [took, enough] = [Math.round(struck.elapsedMs), Math.round(boundMs)];
  yield { invariant: "LIV-2", message: `at rest after ${took} ms, where ${enough} ms must do` };
}
