/** The folder `.everstep` of a project: the store of `everstep dev`, and the note by which other commands find it. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { parseJson } from "../../../model/json.ts";

export interface DevNote {
  readonly url: string;
  /** Of the process to end when it shall stop. */
  readonly pid: number;
  /** What it asks for; left out where the app asks by itself. */
  readonly token?: string;
}

export class DevFolder {
  readonly path: string;
  readonly storePath: string;
  readonly #note: string;

  constructor(cwd: string) {
    this.path = join(cwd, ".everstep");
    this.storePath = join(this.path, "dev.db");
    this.#note = join(this.path, "dev.json");
  }

  /** Nothing in it is for others to have. */
  make(): void {
    mkdirSync(this.path, { recursive: true, mode: 0o700 });
    const ignore = join(this.path, ".gitignore");
    if (!existsSync(ignore)) writeFileSync(ignore, "*\n");
  }

  /** Another `everstep dev` that runs here; what one that died has left is nobody's. */
  async findRunning(): Promise<DevNote | null> {
    const note = this.#read();
    if (note === null || note.pid === process.pid || !isAlive(note.pid)) return null;
    return (await answers(note.url)) ? note : null;
  }

  write(note: DevNote): void {
    this.make();
    // Made anew: a file that is there may be readable by others, or lead elsewhere.
    rmSync(this.#note, { force: true });
    writeFileSync(this.#note, `${JSON.stringify(note, null, 2)}\n`, { mode: 0o600, flag: "wx" });
  }

  /** Only one's own: somebody else may have begun meanwhile. */
  remove(): void {
    if (this.#read()?.pid === process.pid) rmSync(this.#note, { force: true });
  }

  #read(): DevNote | null {
    try {
      const { url, pid } = parseJson<DevNote>(readFileSync(this.#note, "utf8"));
      return typeof url === "string" && Number.isInteger(pid) ? { url, pid } : null;
    } catch {
      return null;
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** A process id may have been given to another program; the port then is not open. */
function answers(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ""), port: Number(port) });
    const answer = (isOpen: boolean): void => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once("connect", () => answer(true)).once("error", () => answer(false));
  });
}
