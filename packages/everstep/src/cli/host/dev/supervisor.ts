/**
 * Keeps one child serving. New code is loaded by a second child while the first one begins or serves; only when that has
 * worked is the first one stopped, and only when it is gone does the second one begin. So a file that cannot be loaded
 * disturbs nothing, whenever it changed, and no two of them ever run instances at the same time.
 */
import type { Runtime, Timer } from "../../../index.ts";
import type { ExitCode } from "../../command.ts";
import type { LoadProblem } from "../user-file/load-problem.ts";
import type { Child, ChildListener, Ending } from "./child.ts";
import type { FileWatch } from "./file-watch.ts";
import type { Report, StartReason } from "./messages.ts";

export interface SupervisorParts {
  readonly spawn: (listener: ChildListener) => Child;
  readonly runtime: Runtime;
  readonly narrator: Narrator;
  readonly watch: Pick<FileWatch, "add"> | null;
  /** Where to serve the first time; the first that is free. */
  readonly ports: readonly number[];
  /** How long bodies in flight may go on. */
  readonly graceMs: number;
  /** What lets the person who started it in, and nobody else: the same for every child. */
  readonly token: string;
  /** Called before anybody is told the address; with the token, where that is asked for. */
  readonly onListening: (url: string, token: string | null) => void;
}

/** Tells the person what happens. */
export interface Narrator {
  changed(files: readonly string[]): void;
  notLoaded(problem: LoadProblem, whatNow: WhatNow): void;
  endedWhileLoading(ending: Ending, whatNow: WhatNow): void;
  refused(message: string, hint: string | undefined): void;
  died(ending: Ending, delayMs: number): void;
  loadsSlowly(): void;
  hangs(): void;
}

/** After code that could not be loaded: the old one serves on, a change is waited for, or it is over. */
export type WhatNow = "old-serves" | "waits" | "over";

/** A file takes this long to load only if it waits for something. */
const slowLoadMs = 10_000;
/** A child that hangs is not waited for any longer than this beyond its grace. */
const killMarginMs = 3000;
/** One that lived this long did not die of being started. */
const healthyMs = 30_000;
const restartDelayMsMax = 30_000;

export class Supervisor implements ChildListener {
  readonly #parts: SupervisorParts;
  #ports: readonly number[];
  /** The one that begins, serves, or is being stopped. */
  #serving: Child | null = null;
  #servingSince = 0;
  /** The one that was loaded and waits for the other to be gone. */
  #ready: Child | null = null;
  #loading: Child | null = null;
  #why: StartReason = "first";
  #deathsInARow = 0;
  #slowLoad: Timer | null = null;
  #restart: Timer | null = null;
  #killing: Timer | null = null;
  #isStopping = false;
  #end: (exitCode: ExitCode) => void = () => {};

  constructor(parts: SupervisorParts) {
    this.#parts = parts;
    this.#ports = parts.ports;
  }

  /** Resolves when it was stopped, or cannot go on. */
  run(): Promise<ExitCode> {
    return new Promise((resolve) => {
      this.#end = resolve;
      this.#load();
    });
  }

  /** Files became others than those that were loaded. */
  changed(files: readonly string[]): void {
    if (this.#isStopping) return;
    this.#parts.narrator.changed(files);
    this.#deathsInARow = 0;
    this.#load();
  }

  stop(): void {
    if (this.#isStopping) return;
    this.#isStopping = true;
    this.#cancelTimers();
    this.#loading?.kill();
    this.#ready?.kill();
    this.#stopServing();
    this.#finishIfAlone();
  }

  /** At once, whatever is under way. */
  kill(): void {
    this.#isStopping = true;
    this.#cancelTimers();
    for (const child of [this.#loading, this.#ready, this.#serving]) child?.kill();
    this.#finishIfAlone();
  }

  onReport(child: Child, report: Report): void {
    if (child === this.#loading) this.#heardOfLoading(child, report);
    else if (child === this.#serving && child.state === "starting") this.#heardOfStarting(child, report);
  }

  #heardOfLoading(child: Child, report: Report): void {
    if (report.kind !== "loaded" && report.kind !== "failed") return;
    this.#slowLoad?.cancel();
    this.#loading = null;
    this.#parts.watch?.add(report.files, child.startedAt);
    if (report.kind === "loaded") {
      child.state = "loaded";
      // What was loaded before it and has not begun is out of date.
      this.#ready?.kill();
      this.#ready = child;
      return this.#replace();
    }
    this.#parts.narrator.notLoaded(report.problem, this.#whatNow());
    this.#finishIfOver();
  }

  #heardOfStarting(child: Child, report: Report): void {
    switch (report.kind) {
      case "listening":
        // Whoever knows the address finds it there again.
        this.#ports = [report.port];
        this.#parts.onListening(report.url, report.takesToken ? this.#parts.token : null);
        child.order({ kind: "run" });
        // It tells why it runs; whoever follows it has another reason.
        this.#why = "changed";
        return;
      case "serving":
        child.state = "serving";
        this.#servingSince = this.#parts.runtime.monotonic();
        return;
      case "refused":
        this.#serving = null;
        this.#parts.narrator.refused(report.message, report.hint);
        if (report.isFinal || !this.#parts.watch) return this.#end(70);
        return this.#replace();
    }
  }

  onGone(child: Child, ending: Ending): void {
    if (child === this.#serving) return this.#servingIsGone(child, ending);
    if (child === this.#loading) this.#loading = null;
    else if (child === this.#ready) this.#ready = null;
    else return;
    this.#slowLoad?.cancel();
    if (this.#isStopping) return this.#finishIfAlone();
    this.#parts.narrator.endedWhileLoading(ending, this.#whatNow());
    this.#finishIfOver();
  }

  #servingIsGone(child: Child, ending: Ending): void {
    const wasTold = child.state === "stopping";
    this.#serving = null;
    this.#killing?.cancel();
    if (this.#isStopping) return this.#finishIfAlone();
    if (!wasTold) return this.#died(ending);
    if (this.#ready) return this.#replace();
    // The one it made room for is gone too.
    if (!this.#loading) this.#load();
  }

  /** Another child reads the file; one that was at it before has read what is out of date. */
  #load(): void {
    this.#restart?.cancel();
    this.#restart = null;
    const before = this.#loading;
    this.#loading = this.#parts.spawn(this);
    before?.kill();
    this.#slowLoad?.cancel();
    this.#slowLoad = this.#parts.runtime.timer(() => this.#parts.narrator.loadsSlowly(), slowLoadMs);
  }

  /** The loaded one begins once nobody serves. */
  #replace(): void {
    const child = this.#ready;
    if (this.#isStopping || !child) return;
    if (this.#serving) return this.#stopServing();
    this.#ready = null;
    this.#serving = child;
    this.#servingSince = this.#parts.runtime.monotonic();
    child.state = "starting";
    child.order({ kind: "start", ports: this.#ports, why: this.#why, token: this.#parts.token });
  }

  #stopServing(): void {
    const child = this.#serving;
    if (!child || child.state === "stopping") return;
    child.state = "stopping";
    child.order({ kind: "stop", graceMs: this.#parts.graceMs, isLast: this.#isStopping });
    this.#killing = this.#parts.runtime.timer(() => {
      this.#parts.narrator.hangs();
      child.kill();
    }, this.#parts.graceMs + killMarginMs);
  }

  /** By itself: a crash, kill -9, process.exit. Its work is in the store, and the next one goes on with it. */
  #died(ending: Ending): void {
    const livedMs = this.#parts.runtime.monotonic() - this.#servingSince;
    this.#deathsInARow = livedMs > healthyMs ? 1 : this.#deathsInARow + 1;
    const delayMs = this.#deathsInARow < 3 ? 0 : restartDelayMs(this.#deathsInARow - 3);
    this.#why = "died";
    this.#parts.narrator.died(ending, delayMs);
    if (this.#ready) return this.#replace();
    if (this.#loading) return;
    if (delayMs === 0) this.#load();
    else this.#restart = this.#parts.runtime.timer(() => this.#load(), delayMs);
  }

  #cancelTimers(): void {
    for (const timer of [this.#slowLoad, this.#restart, this.#killing]) timer?.cancel();
  }

  #whatNow(): WhatNow {
    if (this.#serving || this.#ready) return "old-serves";
    return this.#parts.watch ? "waits" : "over";
  }

  #finishIfOver(): void {
    if (this.#whatNow() === "over") this.#end(70);
  }

  #finishIfAlone(): void {
    if (!this.#serving && !this.#ready && !this.#loading) this.#end(0);
  }
}

function restartDelayMs(extra: number): number {
  return Math.min(1000 * 2 ** extra, restartDelayMsMax);
}
