/**
 * Which node to connect to. A namespace lies in one slot of a cluster, so one node serves all of it; who that is, the
 * nodes say themselves, by sending whoever asks the wrong one to the right one. A single server is a list of one.
 */
import type { RedisClient } from "./driver.ts";
import type { RedisSettings } from "./options.ts";

export interface NodeAddress {
  readonly host: string;
  readonly port: number;
}

export class Nodes {
  readonly #settings: RedisSettings;
  /** Addresses to connect to, in the order in which they became known. */
  readonly #urls: string[];
  #chosen = 0;
  #isCluster: boolean;

  constructor(settings: RedisSettings) {
    this.#settings = settings;
    this.#urls = [...settings.urls];
    this.#isCluster = settings.cluster !== null;
  }

  /** There are others to ask. */
  get isCluster(): boolean {
    return this.#isCluster;
  }

  /** Where the namespace was served last, as far as is known. */
  get url(): string {
    return this.#urls[this.#chosen] as string;
  }

  /** One that none of these is; undefined when there is no other. */
  otherThan(tried: ReadonlySet<string>): string | undefined {
    return this.#urls.find((url) => !tried.has(url));
  }

  /** `url` is the one to connect to from now on. */
  choose(url: string): void {
    const place = this.#urls.indexOf(url);
    this.#chosen = place === -1 ? this.#urls.push(url) - 1 : place;
  }

  /** `url` does not serve the namespace any more, or cannot be reached. */
  leave(url: string): void {
    if (this.url === url) this.#chosen = (this.#chosen + 1) % this.#urls.length;
  }

  /** Follows "MOVED 3999 10.0.0.2:6381", which the node at `from` has answered. */
  follow(answer: string, from: string): string {
    this.#isCluster = true;
    const place = answer.split(" ")[2] ?? "";
    const colon = place.lastIndexOf(":");
    const url = this.#urlOf({ host: place.slice(0, colon), port: Number(place.slice(colon + 1)) }, from);
    this.choose(url);
    return url;
  }

  /**
   * All nodes of the cluster that the client is connected to, so that there is somebody to ask when one of them fails. Gives
   * the primaries beside the one that was asked.
   */
  async learn(client: RedisClient, from: string): Promise<readonly string[]> {
    const ranges = (await client.call("CLUSTER", ["SLOTS"]).catch(() => [])) as SlotRange[];
    this.#isCluster = true;
    const urlOf = ([host, port]: Serving): string => this.#urlOf({ host: host ?? "", port }, from);
    for (const url of ranges.flatMap(([, , ...serving]) => serving.map(urlOf))) {
      if (!this.#urls.includes(url)) this.#urls.push(url);
    }
    const primaries = ranges.flatMap(([, , primary]) => (primary === undefined ? [] : [urlOf(primary)]));
    const here = urlOf([null, Number(new URL(from).port || 6379)]);
    return [...new Set(primaries)].filter((url) => url !== here && url !== from);
  }

  /** User, password and TLS are the same on all nodes. A node that does not know its own host is where it was asked. */
  #urlOf({ host, port }: NodeAddress, from: string): string {
    const url = new URL(from);
    const told = host === "" || host === "?" ? url.hostname : host;
    const mapped = this.#settings.cluster?.mapped(`${told}:${port}`) ?? { host: told, port };
    url.hostname =
      mapped.host.includes(":") && !mapped.host.startsWith("[") ? `[${mapped.host}]` : mapped.host;
    url.port = String(mapped.port);
    return url.href;
  }
}

/** First and last slot, then the primary and its replicas. */
type SlotRange = readonly [number, number, ...Serving[]];
type Serving = readonly [host: string | null, port: number, ...unknown[]];
