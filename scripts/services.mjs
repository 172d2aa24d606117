// Real PostgreSQL, MariaDB and Redis for a command, and nothing of them afterwards; and a real pooler and browser:
//
//   node scripts/services.mjs [--only postgres,mysql,redis,pgbouncer,chromium] [--durable] [-- <command ...>]
//
// The command finds their addresses in EVERSTEP_POSTGRES_URL, EVERSTEP_MYSQL_URL and EVERSTEP_REDIS_URL, the paths of the
// pooler and the browser in EVERSTEP_PGBOUNCER and EVERSTEP_CHROMIUM, and in EVERSTEP_SERVICES the path of a JSON file that
// describes them. Without a command the servers run until Ctrl-C.
// Its temporary folder is its own, in memory where there is room, and is gone afterwards with all that is in it.
// `--durable` is for measurements: the data is on a disk, and every commit waits for it; so do the command's own files.
import { mkdtempSync, writeFileSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createTemporaryFolder } from "./services/folder.mjs";
import { clearAll, keep } from "./services/guard.mjs";
import { kinds } from "./services/kinds.mjs";
import { signalProcess } from "./services/process-tree.mjs";
import { provide } from "./services/provide.mjs";
import { fail, run, say, secondsSince } from "./toolchain.mjs";

const usage =
  "usage: node scripts/services.mjs [--only postgres,mysql,redis,pgbouncer,chromium] [--durable] [-- <command ...>]";
const { names, durable, command } = readArguments();
const interrupted = untilSignal();

const exitCode = await serve().catch((error) => {
  say(error.message);
  return 1;
});
await clearAll();
process.exit(exitCode);

async function serve() {
  const startMs = Date.now();
  say(`Providing ${names.map((name) => kinds[name].title).join(", ")} ...`);
  const servers = await Promise.race([provide(names, { durable }), interrupted]);
  if (!Array.isArray(servers)) {
    say("Interrupted; ending what was begun ...");
    return servers.exitCode;
  }

  const skipped = servers.filter((server) => server.skipped);
  sayWhatIsSkipped(skipped);
  if (skipped.length > 0 && isRequired()) return 1;
  const addresses = environmentOf(servers);
  say(`Everything is ready (${secondsSince(startMs)}).`);
  if (command.length === 0) return keepRunning(addresses);

  const exitCode = await runCommand(addresses);
  sayWhatIsSkipped(skipped);
  return exitCode;
}

async function runCommand(addresses) {
  const [program, ...args] = command;
  let release;
  const onStart = async (pid) => {
    release = keep({ process: pid, signal: "SIGTERM" });
    // A Ctrl-C goes to the command as well as to us, unless it was pressed just before the command was there.
    const early = await Promise.race([interrupted, delay(10)]);
    if (early) signalProcess(pid, early.signal);
  };
  const env = { ...process.env, ...addresses, ...(durable ? {} : { TMPDIR: temporaryFolder() }) };
  const exitCode = await run(program, args, { env, onStart });
  release?.();
  return exitCode;
}

function temporaryFolder() {
  const folder = createTemporaryFolder();
  keep({ folder });
  return folder;
}

async function keepRunning(addresses) {
  for (const [name, value] of Object.entries(addresses)) console.log(`export ${name}=${value}`);
  say("Ctrl-C stops them and removes their data.");
  const stayAwake = setInterval(() => {}, 2 ** 30);
  await interrupted;
  clearInterval(stayAwake);
  return 0;
}

function environmentOf(servers) {
  const there = servers.filter((server) => !server.skipped);
  const folder = mkdtempSync(join(tmpdir(), "everstep-services-"));
  keep({ folder });
  const description = join(folder, "services.json");
  writeFileSync(description, JSON.stringify({ durable, servers }, undefined, 2));
  const values = there.map(({ kind, url, program }) => [kinds[kind].variable, url ?? program]);
  return { ...Object.fromEntries(values), EVERSTEP_SERVICES: description };
}

function sayWhatIsSkipped(skipped) {
  const frame = "*".repeat(90);
  for (const { kind, skipped: reasons } of skipped) {
    const { title, variable, packages, isOnlyFound } = kinds[kind];
    say(frame);
    say(`${title} IS MISSING, AND WITH IT EVERYTHING THAT NEEDS IT.`);
    for (const reason of reasons) say(`  ${reason}`);
    const otherWays = isOnlyFound
      ? `or set ${variable} to the path of the program`
      : `or start Docker, or set ${variable} to a server that may be filled with tests`;
    say(`Install ${packages.join(" ")}, ${otherWays}.`);
    say(frame);
  }
}

// A check that quietly leaves something out is worth nothing where nobody reads its output.
function isRequired() {
  const { CI = "", EVERSTEP_REQUIRE_SERVICES: required = CI } = process.env;
  if (["", "0", "false"].includes(required)) return false;
  say(
    "Failing, because CI or EVERSTEP_REQUIRE_SERVICES is set (EVERSTEP_REQUIRE_SERVICES=0 would go on without).",
  );
  return true;
}

function untilSignal() {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
      process.on(signal, () => resolve({ signal, exitCode: 128 + constants.signals[signal] }));
    }
  });
}

function readArguments() {
  const [own, command] = splitAt(process.argv.slice(2), "--");
  try {
    const options = { only: { type: "string" }, durable: { type: "boolean", default: false } };
    const { values } = parseArgs({ args: own, options });
    const names = values.only?.split(",").map((name) => (name === "mariadb" ? "mysql" : name));
    const unknown = names?.find((name) => !Object.hasOwn(kinds, name));
    if (unknown !== undefined) throw new Error(`There is no service "${unknown}".`);
    return { names: names ?? Object.keys(kinds), durable: values.durable, command };
  } catch (error) {
    return fail(`${error.message}\n${usage}`, 2);
  }
}

function splitAt(list, separator) {
  const place = list.indexOf(separator);
  return place < 0 ? [list, []] : [list.slice(0, place), list.slice(place + 1)];
}
