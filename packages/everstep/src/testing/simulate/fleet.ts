/** The processes of a simulated world: each a place where one runs at a time, is killed, frozen, and comes back. */
import type { WorkflowDefinition } from "../../authoring/define-workflow.ts";
import type { App } from "../../client/app.ts";
import type { AppOptions } from "../../client/app-options.ts";
import { createWorkflows } from "../../client/create-workflows.ts";
import type { Runtime } from "../../model/runtime.ts";
import type { Store } from "../../store/store.ts";
import type { StoreCall, StoreVerb } from "../intercept-store.ts";
import { TestProcess } from "../test-process.ts";
import type { Choices } from "./choices.ts";
import { Post } from "./post.ts";
import type { Fate, Weather } from "./weather.ts";
import { Wire } from "./wire.ts";
import type { World } from "./world.ts";

export type Workflows = Record<string, WorkflowDefinition>;

export interface FleetParts {
  readonly world: World;
  readonly choices: Choices;
  readonly weather: Weather;
  /** A handle of its own on the same data for every process. */
  readonly openStore: () => Store;
  /** The code a process runs, given the process it runs in. */
  readonly workflowsOf: (member: Member) => Workflows;
  readonly appOptions?: Pick<AppOptions<Workflows>, "limits" | "hooks" | "ifInterrupted" | "observers">;
  readonly onApplying?: (call: StoreCall) => void;
  readonly onApplied: (member: Member, call: StoreCall, answer: unknown) => Promise<void>;
  /** A process has the answer. */
  readonly onAnswered?: (member: Member, call: StoreCall, answer: unknown) => void;
  readonly onFate?: (member: Member, fate: Fate, call: StoreCall) => void;
  /** It stopped in order, so long after the grace it was given. */
  readonly onStopped?: (member: Member, lateMs: number) => void;
  readonly onProblem: (member: Member, problem: unknown) => void;
  /** A process is gone without having let go of anything. */
  readonly onDeath?: (member: Member) => void;
  /** A process began, ended or was set aside, in words. */
  readonly onNews: (member: Member, news: string) => void;
}

/** One process, from its start to its death. */
export interface Member {
  /** The place it runs at. */
  readonly place: Place;
  /** Which of all processes it is. */
  readonly number: number;
  readonly process: TestProcess;
  readonly wire: Wire;
  readonly app: App<Workflows>;
  /** What its runner is called in the store. */
  readonly owner: string;
}

export interface Place {
  readonly name: string;
  /** Takes turns, or only makes calls. */
  readonly runs: boolean;
  member: Member | null;
  /** It comes back by itself after it died. */
  comesBack: boolean;
  /** What its owner is called every time it comes back, where that is so. */
  owner: string | null;
  /** No fault reaches it or its calls: it stands for people and programs outside of what is tried. */
  readonly isSpared: boolean;
}

export class Fleet {
  readonly places: Place[] = [];
  readonly members: Member[] = [];
  readonly #parts: FleetParts;
  readonly #post: Post;
  #isHealed = false;

  constructor(parts: FleetParts) {
    this.#parts = parts;
    this.#post = new Post(parts.world, parts.choices, parts.weather);
  }

  place(name: string, options: Pick<Place, "runs"> & Partial<Pick<Place, "owner" | "isSpared">>): Place {
    const { runs, owner = null, isSpared = false } = options;
    const place: Place = { name, runs, member: null, comesBack: true, owner, isSpared };
    this.places.push(place);
    this.start(place);
    return place;
  }

  start(place: Place): Member {
    const { world, choices, weather, openStore, workflowsOf, appOptions = {} } = this.#parts;
    const process = new TestProcess(world.runtime);
    const isOff = !this.#isHealed && !place.isSpared && weather.skewMs > 0;
    process.skewMs = isOff ? choices.between("skew", -weather.skewMs, weather.skewMs) : 0;
    const number = this.members.length;
    const member = { place, number, process } as { -readonly [Key in keyof Member]: Member[Key] };
    member.wire = new Wire({
      world,
      choices,
      weather,
      post: this.#post,
      process,
      store: openStore(),
      onApplying: this.#parts.onApplying,
      onApplied: (call, answer) => this.#parts.onApplied(member, call, answer),
      onAnswered: (call, answer) => this.#parts.onAnswered?.(member, call, answer),
      onFate: (fate, call) => this.#parts.onFate?.(member, fate, call),
      onCrash: () => this.kill(member),
    });
    if (this.#isHealed || place.isSpared) member.wire.heal();
    member.owner = this.#ownerOf(place, process);
    const workflows = workflowsOf(member);
    member.app = createWorkflows({
      ...appOptions,
      workflows,
      store: member.wire.connect(),
      runtime: { ...this.#runtimeOf(process, member.owner), followsStore: weather.skewMs > 0 },
      runner: weather.settings,
      onNotice: () => {},
      onProblem: (problem) => this.#parts.onProblem(member, problem),
    });
    this.members.push(member);
    place.member = member;
    this.#parts.onNews(member, "started");
    if (place.runs && weather.ticked) this.#tick(member);
    else if (place.runs) member.app.start().catch((problem) => this.#startFailed(member, problem));
    return member;
  }

  /** As a host without a loop is called by its platform: again and again, whether the last call has returned or not. */
  #tick(member: Member): void {
    const { weather, onProblem, choices } = this.#parts;
    const maxSteps = choices.pick("steps of a tick", [undefined, 1, 3]);
    member.app
      .tick(maxSteps === undefined ? {} : { maxSteps })
      .catch((problem: unknown) => onProblem(member, problem));
    member.process.runtime.timer(() => {
      if (member.place.member === member) this.#tick(member);
    }, weather.settings.poll);
  }

  /** Gone without any cleanup; whatever was under way may still arrive. */
  kill(member: Member): void {
    if (member.process.state === "dead") return;
    member.process.kill();
    this.#post.hangUp(member.process);
    this.#parts.onDeath?.(member);
    // What the operating system takes from a dead process, at once.
    void member.process.dispose();
    this.#parts.onNews(member, "killed");
    this.#leave(member);
  }

  freeze(member: Member, forMs: number): void {
    if (member.process.state !== "running") return;
    member.process.freeze();
    this.#parts.onNews(member, `frozen for ${Math.round(forMs)} ms`);
    this.#parts.world.after(forMs, () => {
      if (member.process.state !== "frozen") return;
      this.#parts.onNews(member, "thawed");
      member.process.thaw();
    });
  }

  /** Stops in order, and is gone. */
  leave(member: Member, graceMs: number): void {
    if (member.process.state !== "running") return;
    this.#parts.onNews(member, "stops");
    const { world } = this.#parts;
    const stopsAt = world.elapsed;
    const gone = (): void => {
      this.#parts.onStopped?.(member, world.elapsed - stopsAt - graceMs);
      this.#parts.onNews(member, "stopped");
      void member.process.dispose();
      this.#leave(member);
    };
    member.app.stop({ grace: graceMs }).then(gone, (problem: unknown) => {
      this.#parts.onProblem(member, problem);
      gone();
    });
  }

  setClock(member: Member, skewMs: number): void {
    member.process.skewMs = skewMs;
    this.#parts.onNews(member, `clock set to ${skewMs} ms`);
  }

  cut(member: Member, forMs: number): void {
    member.wire.cut(forMs);
    this.#parts.onNews(member, `cut off for ${Math.round(forMs)} ms`);
  }

  /** One of its connections swallows what is sent on it. */
  silence(member: Member, forMs: number): void {
    member.wire.silence(forMs);
    this.#parts.onNews(member, `has a silent connection for ${Math.round(forMs)} ms`);
  }

  /** What it asks for takes effect, and it hears nothing of it. */
  loseAnswers(member: Member, verb: StoreVerb, forMs: number): void {
    member.wire.loseAnswers(verb, forMs);
    this.#parts.onNews(member, `hears no answer to ${verb} for ${Math.round(forMs)} ms`);
  }

  /** No more faults: what is dead stays dead where `stays` says so, everything else comes back and is reached. */
  heal(stays: (place: Place) => boolean): void {
    this.#isHealed = true;
    this.#post.isHealed = true;
    for (const place of this.places) {
      const { member } = place;
      if (member) {
        member.wire.heal();
        if (stays(place)) {
          place.comesBack = false;
          this.kill(member);
        } else member.process.thaw();
      } else if (!stays(place)) this.start(place);
    }
  }

  async close(): Promise<void> {
    for (const { process } of this.members) await process.dispose();
  }

  #leave(member: Member): void {
    const { place } = member;
    if (place.member !== member) return;
    place.member = null;
    if (!place.comesBack) return;
    const { choices, weather, world } = this.#parts;
    const awayMs = choices.spread("comes back after", 1, weather.settings.lease * 3);
    world.after(awayMs, () => {
      if (place.member === null && place.comesBack) this.start(place);
    });
  }

  #startFailed(member: Member, problem: unknown): void {
    this.#parts.onProblem(member, problem);
    // As a supervisor would.
    if (member.process.state === "running") this.kill(member);
  }

  /** Its first id is the name of its runner. */
  #runtimeOf(process: TestProcess, owner: string): Runtime {
    let isFirst = true;
    const uuid = (): string => {
      if (!isFirst) return process.runtime.uuid();
      isFirst = false;
      return owner;
    };
    return { ...process.runtime, uuid };
  }

  #ownerOf(place: Place, process: TestProcess): string {
    if (!this.#parts.weather.sameOwner) return process.runtime.uuid();
    place.owner ??= process.runtime.uuid();
    return place.owner;
  }
}
