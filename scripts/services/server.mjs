// A private server that is thrown away. Also for tests that want one of their own, to kill it and start it again:
//
//   startServer() -> running -- kill() --> ended -- restart() --> running -- stop() --> gone, with its data
import { closeSync, existsSync, openSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { say } from "../toolchain.mjs";
import { accountFor, underAccount } from "./account.mjs";
import { createFolder, readOrEmpty } from "./folder.mjs";
import { isClosing, keep, refuseWhenClosing } from "./guard.mjs";
import { kinds } from "./kinds.mjs";
import { removeFolder } from "./leftovers.mjs";
import { freePort } from "./ports.mjs";
import { endProcess, signalTree } from "./process-tree.mjs";
import { execute, lastLines, spawnApart } from "./processes.mjs";

export { freePort } from "./ports.mjs";
export { isAlive } from "./process-tree.mjs";

const limits = { portAttempts: 5, readyMs: 60_000, endMs: 30_000 };

/** Creates the data and starts a server on it; resolves when it answers. */
export function startServer(kindName, { port, ...options } = {}) {
  return start(kindName, options, port);
}

/** Starts PgBouncer before the server behind `target`; `settings` are those of its configuration file. */
export function startPooler(target, settings = {}) {
  return start("pgbouncer", { target, settings });
}

async function start(kindName, options, port) {
  const reason = whyNot(kindName);
  if (reason) throw new Error(reason);
  refuseWhenClosing();
  const server = new Server(kinds[kindName], options);
  try {
    await server.open(port);
    return server;
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** Why a server of this kind cannot be started here, or a program is not there; undefined if it can, or is. */
export function whyNot(kindName) {
  const { title, packages, findBinaries, isOnlyFound } = kinds[kindName];
  if (process.platform === "win32" && !isOnlyFound)
    return `${title} is not started from its programs on Windows`;
  return findBinaries() ? undefined : `${title} is not installed (on Debian: ${packages.join(" ")})`;
}

/** Where the programs of such a server are; undefined where it is not installed. */
export function programsOf(kindName) {
  return kinds[kindName].findBinaries();
}

class Server {
  #kind;
  #durable;
  #settings;
  #createData;
  #target; // the server that a pooler stands before
  #execution;
  #forgetFolder;
  #run; // the process that serves, or was the last to serve

  constructor(kind, { durable = false, settings = {}, createData, target }) {
    this.#kind = kind;
    this.#durable = durable;
    this.#settings = settings;
    this.#createData = createData;
    this.#target = target;
    this.kind = kind.name;
    this.binaries = kind.findBinaries();
    this.account = accountFor(kind.accounts);
    this.folder = createFolder(kind.name, { durable, account: this.account });
    this.#forgetFolder = keep({ folder: this.folder });
    // A clean environment: PGDATA and the like would be obeyed.
    const { PATH, LD_LIBRARY_PATH } = process.env;
    const env = { PATH, ...(LD_LIBRARY_PATH && { LD_LIBRARY_PATH }), HOME: this.folder, LC_ALL: "C" };
    this.#execution = { cwd: this.folder, env, ...underAccount(this.account) };
  }

  get pid() {
    return this.#run?.pid;
  }

  get url() {
    return this.#kind.url(this.port, this.#target);
  }

  get log() {
    return readOrEmpty(join(this.folder, "server.log"));
  }

  async open(wantedPort) {
    const { binaries, folder } = this;
    if (this.#createData) await this.#createData(this);
    else await this.#kind.createData({ binaries, folder, execution: this.#execution });
    for (let attempt = 1; ; attempt++) {
      this.port = wantedPort ?? (await freePort());
      const failure = await this.#start();
      if (!failure) return;
      if (!failure.isPortTaken || wantedPort || attempt === limits.portAttempts) throw failure.error;
    }
  }

  run(program, argv) {
    return execute(program, argv, this.#execution);
  }

  async kill(signal = "SIGKILL") {
    const run = this.#run;
    if (run?.pid === undefined || run.ending !== undefined) return;
    if (signal === "SIGSTOP" || signal === "SIGCONT") return signalTree(run.pid, signal);
    run.mayEnd = true;
    run.child.ref();
    await endProcess(run.pid, signal, limits.endMs);
    await run.ended;
  }

  async restart(settings = this.#settings) {
    if (!existsSync(this.folder)) throw new Error(`This ${this.#kind.title} was stopped; its data is gone.`);
    await this.kill(this.#kind.signals.clean);
    this.#settings = settings;
    for (let attempt = 1; ; attempt++) {
      const failure = await this.#start();
      if (!failure) return;
      if (!failure.isPortTaken || attempt === limits.portAttempts) throw failure.error;
      await delay(200);
    }
  }

  async stop() {
    await this.kill(this.#kind.signals.throwAway);
    await this.#kind.removeTraces?.({ folder: this.folder });
    removeFolder(this.folder);
    this.#forgetFolder();
  }

  /** Resolves when the server is ready, or to why it is not. */
  async #start() {
    const { folder, port } = this;
    const quietUntil = this.log.length;
    const run = this.#spawn();
    const endMs = Date.now() + limits.readyMs;
    while (!(await this.#kind.isReady({ folder, port, pid: run.pid }))) {
      if (run.ending === undefined && Date.now() < endMs) {
        await delay(20);
        continue;
      }
      const ending = run.ending ?? `no answer after ${limits.readyMs / 1000} s`;
      await this.kill();
      const log = this.log.slice(quietUntil);
      const error = new Error(`${this.binaries.server} did not start (${ending}): ${lastLines(log)}`);
      return { error, isPortTaken: /address already in use/i.test(log) };
    }
    run.ended.then((ending) => run.mayEnd || isClosing() || this.#complain(ending));
    return undefined;
  }

  #spawn() {
    const { folder, port } = this;
    const given = { folder, port, durable: this.#durable, target: this.#target, settings: this.#settings };
    this.argv = [...this.#kind.argv(given), ...(this.#kind.asOptions?.(this.#settings) ?? [])];
    const log = openSync(join(folder, "server.log"), "a");
    const { throwAway } = this.#kind.signals;
    const options = { stdio: ["ignore", log, log], throwAway, ...this.#execution };
    this.#run = spawnApart(this.binaries.server, this.argv, options);
    closeSync(log);
    this.#run.child.unref(); // a forgotten server must not keep us from ending; the guard ends it then
    return this.#run;
  }

  #complain(ending) {
    say(`${this.#kind.title} on port ${this.port} ended by itself (${ending}): ${lastLines(this.log)}`);
  }
}
