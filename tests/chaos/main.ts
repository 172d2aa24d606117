/** `npm run chaos`: new seeds, one after the other, for as long as somebody wants to look. */
import { parseArgs } from "node:util";
import { runScript } from "../support/run-script.ts";
import { runChaos } from "./chaos.ts";
import type { StoreKind } from "./open-store.ts";
import { type Setup, Site, setups, storeNames, whyNoSite } from "./site.ts";
import { monotonic } from "./time.ts";

const help = `Kills and stops processes, cuts connections, crashes servers, and checks every promise afterwards.

  npm run chaos -- --store redis --minutes 10   new seeds for ten minutes
  npm run chaos -- --store postgres --seed 12   one seed; what happens depends on the machine's time, too
  npm run chaos -- --store mysql --setup standby   the server is lost to a standby without the last writes
  npm run chaos -- --store redis --setup cluster   the data moves between the nodes of a cluster
  npm run chaos -- --store mysql --setup galera    nodes of a Galera cluster die under load and join again

  --store <name>     sqlite, postgres, mysql or redis    (sqlite)
  --setup <name>     alone, standby, cluster or galera   (alone)
  --minutes <n>      begin no other seed after this      (10)
  --seconds <n>      how long things go wrong in each    (14)
  --seed <n>         only this one
`;

interface Options {
  readonly kind: StoreKind;
  readonly setup: Setup;
  readonly minutes: number;
  readonly seconds: number;
  readonly seed: number | null;
}

// Node may never come to its end by itself where sockets were cut off in the middle of a write.
process.exit(await runScript(help, readOptions, run));

async function run(options: Options): Promise<number> {
  const reason = whyNoSite(options.kind, options.setup);
  if (reason === undefined) return explore(options);
  console.error(`There can be no chaos on ${storeNames[options.kind]} here: ${reason}.`);
  return 1;
}

/** Gives the exit code: 1 once a promise was broken. */
async function explore({ kind, setup, minutes, seconds, seed }: Options): Promise<number> {
  const until = monotonic() + minutes * 60_000;
  let played = 0;
  do {
    const each = seed ?? Math.floor(Math.random() * 1_000_000);
    const broken = await play(kind, setup, each, seconds);
    played++;
    if (broken.length === 0) continue;
    console.error(`\nchaos on ${storeNames[kind]}, seed ${each}: broken promises\n${broken.join("\n")}`);
    const where = `--store ${kind} --setup ${setup}`;
    console.error(`\nAgain: npm run chaos -- ${where} --seconds ${seconds} --seed ${each}`);
    return 1;
  } while (seed === null && monotonic() < until);
  console.log(
    `chaos on ${storeNames[kind]}: ${played} ${played === 1 ? "seed" : "seeds"}, every promise kept`,
  );
  return 0;
}

async function play(
  kind: StoreKind,
  setup: Setup,
  seed: number,
  seconds: number,
): Promise<readonly string[]> {
  const site = await Site.open(kind, setup);
  const say = (line: string): void => console.log(`chaos on ${storeNames[kind]}, seed ${seed}: ${line}`);
  try {
    const verdict = await runChaos({ site, seed, seconds, say });
    return Object.entries(verdict).flatMap(([about, faults]) =>
      faults.map((fault) => `  ${about}: ${fault}`),
    );
  } catch (problem) {
    return [`  ${problem instanceof Error ? problem.stack : String(problem)}`];
  } finally {
    await site.close();
  }
}

/** Null when help was asked for. Throws where an option makes no sense. */
function readOptions(args: readonly string[]): Options | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      store: { type: "string", default: "sqlite" },
      setup: { type: "string", default: "alone" },
      minutes: { type: "string", default: "10" },
      seconds: { type: "string", default: "14" },
      seed: { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) return null;
  const { store } = values;
  if (!Object.hasOwn(storeNames, store))
    throw new Error(`--store is "${store}"; it must be one of ${Object.keys(storeNames).join(", ")}.`);
  if (!isSetup(values.setup))
    throw new Error(`--setup is "${values.setup}"; it must be one of ${setups.join(", ")}.`);
  return {
    kind: store as StoreKind,
    setup: values.setup,
    minutes: positive("minutes", values.minutes),
    seconds: positive("seconds", values.seconds),
    seed: values.seed === undefined ? null : positive("seed", values.seed),
  };
}

function isSetup(given: string): given is Setup {
  return (setups as readonly string[]).includes(given);
}

function positive(name: string, given: string): number {
  const value = Number(given);
  if (Number.isFinite(value) && value > 0) return value;
  throw new Error(`--${name} is "${given}"; it must be a positive number.`);
}
