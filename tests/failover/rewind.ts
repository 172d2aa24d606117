/**
 * Data that goes back in time under those who use it: what was written between `keep` and `goBack` is lost, although it
 * was acknowledged.
 */
import type { Store } from "everstep/store";
import type { ServerKind } from "../../scripts/services/server.mjs";
import { openStore, type StoreKind } from "../chaos/open-store.ts";
import { TcpProxy } from "../chaos/tcp-proxy.ts";
import { lookFor } from "../chaos/time.ts";
import { BackedUpFile } from "./backed-up-file.ts";
import { BackedUpServer } from "./backed-up-server.ts";
import { Pair } from "./pair.ts";

export type Way = "failover" | "restored backup";

/** Whose data it is. */
interface Source {
  /** What was written before this is asked survives. */
  keep(): Promise<void>;
  /** Gives the port that clients shall go to now; none for a file. */
  goBack(): Promise<number | null>;
  close(): Promise<void>;
}

const backMs = 20_000;

export class Rewind {
  readonly kind: StoreKind;
  readonly #source: Source;
  readonly #front: TcpProxy | null;
  readonly #address: string;
  readonly #handles = new Set<Handle>();

  private constructor(kind: StoreKind, source: Source, front: TcpProxy | null, address: string) {
    this.kind = kind;
    this.#source = source;
    this.#front = front;
    this.#address = address;
  }

  static async open(kind: StoreKind, way: Way): Promise<Rewind> {
    if (kind === "sqlite") {
      const file = new BackedUpFile();
      return new Rewind(kind, file, null, file.path);
    }
    const source = way === "failover" ? await openPair(kind) : await BackedUpServer.open(kind);
    const { url, port } = source.primary;
    const front = await TcpProxy.open(port);
    const address = new URL(url);
    address.port = String(front.port);
    return new Rewind(kind, source, front, address.href);
  }

  /** A store on this data, as a process of its own would have it. A file's processes have stopped when it is replaced. */
  async openHandle(namespace: string): Promise<Handle> {
    const handle = new Handle(() => openStore(this.kind, this.#address, namespace));
    await handle.open();
    this.#handles.add(handle);
    return handle;
  }

  keep(): Promise<void> {
    return this.#source.keep();
  }

  async goBack(): Promise<void> {
    const reopened = this.#front === null ? [...this.#handles] : [];
    for (const handle of reopened) await handle.store.close();
    const port = await this.#source.goBack();
    if (port !== null) this.#front?.leadTo(port);
    for (const handle of reopened) await handle.open();
    for (const { store } of this.#handles) await answers(store);
  }

  async close(): Promise<void> {
    for (const { store } of this.#handles) await store.close();
    await this.#front?.close();
    await this.#source.close();
  }
}

export class Handle {
  readonly #open: () => Promise<Store>;
  #store: Store | undefined;

  constructor(open: () => Promise<Store>) {
    this.#open = open;
  }

  get store(): Store {
    if (!this.#store) throw new Error("This store is not open.");
    return this.#store;
  }

  async open(): Promise<void> {
    this.#store = await this.#open();
  }
}

async function openPair(kind: ServerKind): Promise<Source & Pick<Pair, "primary">> {
  const pair = await Pair.open(kind);
  return {
    get primary() {
      return pair.primary;
    },
    keep: () => pair.detach(),
    goBack: () => pair.failOver(),
    close: () => pair.close(),
  };
}

/** Connections that broke with the old server are replaced. */
async function answers(store: Store): Promise<void> {
  const ask = (): Promise<true | undefined> =>
    store.countByStatus().then(
      () => true,
      () => undefined,
    );
  if (!(await lookFor(ask, { withinMs: backMs }))) throw new Error("The store does not answer any more.");
}
