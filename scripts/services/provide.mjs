// For each server the first way that works: the environment names one; its programs are installed; apt-get can
// install them; Docker can run it. A browser is not started and not in a container: it only has to be there.
import { setTimeout as delay } from "node:timers/promises";
import { say, secondsSince } from "../toolchain.mjs";
import { aptInstall, whyNoApt } from "./apt.mjs";
import { isExecutable } from "./binaries.mjs";
import { startContainer, whyNoDocker } from "./docker.mjs";
import { kinds } from "./kinds.mjs";
import { accepts } from "./ports.mjs";
import { startServer, whyNot } from "./server.mjs";

const givenServerMs = 15_000;

/** One description for each name: of a server, with its `url`, of a program, or why there is none, as `skipped`. */
export async function provide(names, { durable }) {
  const missing = names.filter((name) => !process.env[kinds[name].variable] && whyNot(name));
  const aptFailure = missing.length > 0 ? await install(missing) : undefined;
  return Promise.all(
    names.map((name) => {
      const given = process.env[kinds[name].variable];
      if (kinds[name].isOnlyFound) return findOne(kinds[name], { given, aptFailure });
      return given ? useGiven(kinds[name], given) : provideOne(kinds[name], { durable, aptFailure });
    }),
  );
}

/** Installs in one go, which is much faster than one at a time; resolves to why that did not work. */
async function install(names) {
  const reason = whyNoApt();
  if (reason) return reason;
  try {
    await aptInstall(names.flatMap((name) => kinds[name].packages));
    return undefined;
  } catch (error) {
    return error.message;
  }
}

// Somebody named this server, so another one would not do.
async function useGiven(kind, url) {
  const { hostname, port } = new URL(url);
  const address = { host: hostname, port: Number(port) || kind.docker.port };
  const endMs = Date.now() + givenServerMs;
  while (hostname && !(await accepts(address))) {
    if (Date.now() > endMs)
      throw new Error(`${kind.variable} is set, but ${hostname}:${address.port} does not answer.`);
    await delay(200);
  }
  say(`${kind.title}: using ${hostname}:${address.port}, from ${kind.variable}.`);
  return { kind: kind.name, url, port: address.port, binaries: kind.findBinaries() };
}

async function findOne(kind, { given, aptFailure }) {
  if (given && !isExecutable(given))
    throw new Error(`${kind.variable} is set, but ${given} is no program that can be run.`);
  const program = given || kind.findBinaries()?.program;
  if (!program) return { kind: kind.name, skipped: [[whyNot(kind.name), aptFailure].join("; ")] };
  say(`${kind.title}: ${program}${given ? `, from ${kind.variable}` : ""}.`);
  return { kind: kind.name, program };
}

async function provideOne(kind, { durable, aptFailure }) {
  const startMs = Date.now();
  const skipped = [];
  const attempt = async (reason, start) => {
    if (reason) return void skipped.push(reason);
    try {
      const server = await start();
      say(
        `${kind.title}: ready on port ${server.port} (${secondsSince(startMs)}, ${server.binary ?? server.image}).`,
      );
      return server;
    } catch (error) {
      skipped.push(error.message);
    }
  };
  const fromPrograms = async () => describe(await startServer(kind.name, { durable }));
  const fromImage = () => startContainer(kind, { durable });
  const notInstalled = [whyNot(kind.name), aptFailure].filter(Boolean).join("; ");
  return (
    (await attempt(whyNot(kind.name) && notInstalled, fromPrograms)) ??
    (await attempt(await whyNoDocker(), fromImage)) ?? { kind: kind.name, skipped }
  );
}

function describe({ kind, url, port, folder, binaries, argv, account, pid }) {
  return { kind, url, port, folder, binary: binaries.server, binaries, argv, ...account, pid };
}
