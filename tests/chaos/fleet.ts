/** The runner processes of a test: so many places, each with its own way to the data and one process at a time. */
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { RunnerHandle } from "./runner-handle.ts";
import type { RunnerTask } from "./runner-process.ts";
import type { Site } from "./site.ts";
import type { TcpProxy } from "./tcp-proxy.ts";

export interface Place {
  readonly proxy: TcpProxy | null;
  runner: RunnerHandle | null;
}

export type FleetTask = Omit<RunnerTask, "kind" | "address" | "folder">;

export class Fleet {
  readonly places: readonly Place[];
  /** Where its processes write what they did. */
  readonly folder: string;
  /** Every process there ever was. */
  readonly runners: RunnerHandle[] = [];
  readonly #site: Site;
  readonly #ended: Promise<unknown>[] = [];

  private constructor(site: Site, places: readonly Place[]) {
    this.#site = site;
    this.places = places;
    this.folder = mkdtempSync(join(site.folder, "fleet-"));
  }

  static async open(site: Site, size: number): Promise<Fleet> {
    const proxies = await Promise.all(Array.from({ length: size }, () => site.openProxy()));
    return new Fleet(
      site,
      proxies.map((proxy) => ({ proxy, runner: null })),
    );
  }

  start(place: Place, task: FleetTask): RunnerHandle {
    const { folder } = this;
    const { kind } = this.#site;
    const runner = new RunnerHandle({
      ...task,
      kind,
      folder,
      address: this.#site.addressThrough(place.proxy),
    });
    place.runner = runner;
    this.runners.push(runner);
    this.#ended.push(runner.exited);
    return runner;
  }

  /** Asks all that are left to stop in order. */
  async leave(): Promise<void> {
    await Promise.all(this.runners.filter(({ fate }) => fate === "runs").map((runner) => runner.leave()));
  }

  /** At once, whatever they do. */
  async close(): Promise<void> {
    for (const runner of this.runners) if (runner.fate === "runs") runner.kill();
    await Promise.all(this.#ended);
    for (const { proxy } of this.places) await proxy?.close();
  }
}
