/** What one might use instead of everstep, and what the bench asks of it. */
import type { Room, StoreName } from "../grounds/ground.ts";

/** A module under `adapters/`, or anywhere: what it is, and how it is opened. */
export interface AlternativeModule {
  readonly alternative: Alternative;
  readonly open: Open;
}

export interface Alternative {
  readonly name: string;
  readonly title: string;
  /** Where it keeps its data, as far as the bench knows how. */
  readonly stores: readonly StoreName[];
  /** What npm installs, each in one exact version; the first names the version that is reported. */
  readonly packages: Readonly<Record<string, string>>;
  /** What has to be known to read its figures. */
  readonly notes: readonly string[];
}

/** Runs in a process of its own, so that nothing of it is ever loaded into the bench. */
export type Open = (given: Given) => Promise<Contender>;

export interface Given {
  readonly store: StoreName;
  readonly room: Pick<Room, "url" | "prefix">;
  /** Imports a package from where the alternative was installed. */
  readonly load: <Module>(specifier: string) => Promise<Module>;
  readonly observer: Observer;
}

/** Told by the bodies of the workflows; the first call for an id counts. */
export interface Observer {
  /** The last step has returned, so the workflow is about to end. */
  ended(id: string): void;
  /** It comes to its wait for an event. */
  waits(id: string): void;
  /** It comes to its sleep, and the first code after it. */
  asleep(id: string): void;
  awake(id: string): void;
}

/** All ids are new. Workflows tell the observer what they do. */
export interface Contender {
  /** How it was set up, in words. */
  readonly settings: string;
  /** How many starts are under way at once when many are started. */
  readonly startsAtOnce: number;
  /** A workflow of 5 steps, each of which returns a small object. */
  startFive(id: string): Promise<void>;
  /** When the library itself says that the workflow has ended. */
  result(id: string): Promise<unknown>;
  /** Null where the library has no such thing, or only something that is not the same. */
  readonly events: EventContender | null;
  /** The same for sleeps; see `Observer.asleep`. */
  readonly sleeps: { start(id: string, ms: number): Promise<void> } | null;
  close(): Promise<void>;
}

export interface EventContender {
  /** A workflow that waits for one event. */
  start(id: string): Promise<void>;
  /** How long after it came to its wait it may be told, where the library does not say so. */
  readonly settleMs: number;
  send(id: string): Promise<unknown>;
}

export const stepCount = 5;
