// `npm run mutants`: does the simulation bite? Every mutant in tests/simulation/mutants must be noticed by it.
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { callOff, hunt, survey } from "../tests/simulation/mutants/hunt.ts";
import { mutants } from "../tests/simulation/mutants/list.ts";
import { callOffTests, notice } from "../tests/simulation/mutants/notice.ts";
import { unseen } from "../tests/simulation/mutants/unseen.ts";
import { Workshop } from "../tests/simulation/mutants/workshop.ts";

const usage = `usage: npm run mutants [-- options]
  --only <text>      only mutants whose names contain this; may be given several times
  --seeds <number>   worlds each is hunted in (default 2000)
  --jobs <number>    how many are hunted at once (default: half of the cores)
  --timeout <s>      how long one may take (default 300)
  --servers          those too that only a test with a real server notices; starts the servers
  --list             only tell what there is`;

const options = readOptions();
const chosen = choose();
if (options.list) list();
else process.exitCode = await huntAll();

function readOptions() {
  const number = { type: "string" };
  const flag = { type: "boolean", default: false };
  const only = { type: "string", multiple: true, default: [] };
  try {
    const { values } = parseArgs({
      options: {
        only,
        seeds: number,
        jobs: number,
        timeout: number,
        servers: flag,
        list: flag,
        help: { ...flag, short: "h" },
      },
    });
    if (values.help) leave(usage, 0);
    const jobs = Math.max(1, Math.floor(availableParallelism() / 2));
    return {
      ...values,
      seeds: wholeNumber(values.seeds, 2000),
      jobs: wholeNumber(values.jobs, jobs),
      timeoutMs: wholeNumber(values.timeout, 300) * 1000,
    };
  } catch (error) {
    return leave(`${error.message}\n${usage}`, 2);
  }
}

function wholeNumber(given, otherwise) {
  if (given === undefined) return otherwise;
  const number = Number(given);
  if (!Number.isInteger(number) || number < 1)
    leave(`"${given}" is not a whole number above 0.\n${usage}`, 2);
  return number;
}

function leave(words, exitCode) {
  console.error(words);
  process.exit(exitCode);
}

function choose() {
  const isWanted = ({ name }) =>
    options.only.length === 0 || options.only.some((text) => name.toLowerCase().includes(text.toLowerCase()));
  const all = [...mutants, ...unseen.filter(({ noticedBy }) => noticedBy !== null)].filter(isWanted);
  const chosen = all.filter(({ needs }) => needs === undefined || options.servers);
  const left = all.length - chosen.length;
  if (left > 0) console.log(`${left} need a server; --servers hunts them too.`);
  if (chosen.length === 0) leave("There is no such mutant.", 2);
  return chosen;
}

function list() {
  for (const { name, guards } of chosen) console.log(`${name}  (${guards.join(", ")})`);
  console.log(`${chosen.length} mutants`);
}

async function huntAll() {
  const startMs = performance.now();
  const workshop = new Workshop();
  process.on("exit", () => {
    callOff();
    callOffTests();
    workshop.close();
  });
  for (const [signal, exitCode] of Object.entries({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }))
    process.on(signal, () => process.exit(exitCode));
  const stores = new Set(chosen.filter(({ noticedBy }) => !noticedBy).map(({ store = "memory" }) => store));
  const known = new Map();
  for (const store of stores) known.set(store, await lookAtOriginal(workshop, store));
  const verdicts = new Map();
  const waiting = [...chosen];
  const progress = createProgress(verdicts);
  const work = async () => {
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const verdict = await judge(mutant, workshop, known, (seed) => progress.at(mutant, seed));
      verdicts.set(mutant, verdict);
      progress.through(mutant, verdict);
    }
  };
  await Promise.all(Array.from({ length: options.jobs }, work));
  const survivors = report(verdicts);
  console.log(`(${seconds(performance.now() - startMs)})`);
  return survivors > 0 ? 1 : 0;
}

/** A finding that the code as it is has too would kill every mutant sooner or later, and prove nothing. */
async function lookAtOriginal({ original }, store) {
  const { timeoutMs } = options;
  const found = await survey(original, seedsOn(store), { timeoutMs }, store);
  for (const { seed, invariant, message } of found)
    console.log(
      `does not count, because the code as it is has it too: ${invariant} at seed ${seed}: ${message}`,
    );
  return found.map(({ signature }) => signature);
}

/** Worlds on tables cost several times as much. */
function seedsOn(store) {
  const most = Math.max(options.seeds, ...chosen.map((mutant) => mutant.seeds ?? 0));
  return store === "memory" ? most : Math.ceil(options.seeds / 4);
}

function seedsFor({ store = "memory", seeds = 0 }) {
  return store === "memory" ? Math.max(options.seeds, seeds) : Math.ceil(options.seeds / 4);
}

async function judge(mutant, workshop, known, onSeed) {
  let home;
  try {
    home = workshop.make(mutant);
  } catch (error) {
    return { kind: "unknown", message: error.message, ms: 0 };
  }
  const { timeoutMs } = options;
  const { original } = workshop;
  const { store = "memory" } = mutant;
  const hunting = { mutated: home, original, seedsMax: seedsFor(mutant), known: known.get(store), store };
  const verdict = mutant.noticedBy
    ? await notice(home, original, mutant.noticedBy, timeoutMs)
    : await hunt(hunting, { timeoutMs, onSeed });
  workshop.remove(home);
  return verdict;
}

function createProgress(verdicts) {
  const { isTTY } = process.stderr;
  const seeds = new Map();
  const clear = () => isTTY && process.stderr.write("\r\x1b[K");
  return {
    at(mutant, seed) {
      if (!isTTY || seed % 10 !== 0) return;
      seeds.set(mutant, seed);
      const words = [...seeds].map(([{ name }, at]) => `${name.slice(0, 40)} ${at}`).join(" | ");
      process.stderr.write(`\r\x1b[K${verdicts.size}/${chosen.length}  ${words}`.slice(0, 160));
    },
    through(mutant, verdict) {
      seeds.delete(mutant);
      clear();
      const count = `${verdicts.size}/${chosen.length}`.padStart(9);
      console.log(`${count}  ${mutant.name}: ${inWords(mutant, verdict)}`);
      if (verdict.kind !== "survived")
        console.log(`${" ".repeat(11)}${verdict.message.split("\n")[0].slice(0, 200)}`);
    },
  };
}

function inWords(mutant, verdict) {
  const took = seconds(verdict.ms);
  if (verdict.kind === "survived") return `SURVIVED ${seedsFor(mutant)} seeds (${took})`;
  if (verdict.kind === "unknown") return `NO VERDICT (${took})`;
  const where = verdict.seed > 0 ? ` at seed ${verdict.seed}` : "";
  return `killed by ${verdict.invariant}${where} (${took})`;
}

/** Gives the number of those that were not killed. */
function report(verdicts) {
  const width = Math.max(...chosen.map(({ name }) => name.length));
  console.log(`\n${"mutant".padEnd(width)}  guards`);
  for (const mutant of chosen) {
    const guards = mutant.guards.join(" ").padEnd(16);
    console.log(`${mutant.name.padEnd(width)}  ${guards}  ${inWords(mutant, verdicts.get(mutant))}`);
  }
  const all = [...verdicts.values()];
  const killed = all.filter(({ kind }) => kind === "killed");
  const seeds = killed.flatMap(({ seed }) => (seed > 0 ? seed : [])).sort((a, b) => a - b);
  const median = seeds.length === 0 ? "" : `, median seed ${seeds[seeds.length >> 1]}, last ${seeds.at(-1)}`;
  const left = all.length - killed.length;
  console.log(`\n${all.length} mutants: ${killed.length} killed${median}; ${left} not killed`);
  return left;
}

function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`;
}
