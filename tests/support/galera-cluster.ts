/** A Galera cluster of a test's own: nodes of MariaDB on loopback ports, each of which takes writes. */
import { setTimeout as delay } from "node:timers/promises";
import { createConnection, type RowDataPacket } from "mysql2/promise";
import { freePort, programsOf, type Server, startServer, whyNot } from "../../scripts/services/server.mjs";

/** A node that dies is missed after a second and a half: every commit waits that long, here and in leases. */
const groupOptions = {
  "evs.keepalive_period": "PT0.3S",
  "evs.inactive_check_period": "PT0.3S",
  "evs.suspect_timeout": "PT1.5S",
  "evs.inactive_timeout": "PT5S",
  "evs.install_timeout": "PT5S",
  "gcache.size": "128M",
};

const joinMs = 60_000;

/** Why there can be no such cluster here; undefined if there can. */
export function whyNoGalera(): string | undefined {
  const reason = whyNot("mysql");
  if (reason !== undefined) return reason;
  return programsOf("mysql")?.galera ? undefined : "Galera is not installed (on Debian: galera-4)";
}

interface Ports {
  readonly group: number;
  readonly changes: number;
  readonly data: number;
}

export class GaleraCluster {
  readonly nodes: readonly GaleraNode[];

  private constructor(nodes: readonly GaleraNode[]) {
    this.nodes = nodes;
  }

  /** One after the other: each gets its data from those that are there. */
  static async start(size = 3): Promise<GaleraCluster> {
    const ports: Ports[] = [];
    for (let n = 0; n < size; n += 1)
      ports.push({ group: await freePort(), changes: await freePort(), data: await freePort() });
    const members = ports.map(({ group }) => `127.0.0.1:${group}`).join();
    const nodes: GaleraNode[] = [];
    try {
      for (const [n, each] of ports.entries()) nodes.push(await GaleraNode.start(n, each, members));
      return new GaleraCluster(nodes);
    } catch (error) {
      await Promise.all(nodes.map((node) => node.server.stop()));
      throw error;
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map(({ server }) => server.stop()));
  }
}

export class GaleraNode {
  readonly server: Server;
  readonly #settings: Readonly<Record<string, string | number>>;

  private constructor(server: Server, settings: Readonly<Record<string, string | number>>) {
    this.server = server;
    this.#settings = settings;
  }

  /** The first of them founds the cluster; started again it joins like all others. */
  static async start(n: number, ports: Ports, members: string): Promise<GaleraNode> {
    const settings = settingsOf(n, ports);
    const joins = { ...settings, "wsrep-cluster-address": `gcomm://${members}` };
    const server = await startServer("mysql", {
      settings: n === 0 ? { ...settings, "wsrep-cluster-address": "gcomm://" } : joins,
    });
    const node = new GaleraNode(server, joins);
    await node.isSynced();
    return node;
  }

  async kill(): Promise<void> {
    await this.server.kill("SIGKILL");
  }

  /** It stands still for so long. The others may have gone on without it: then it joins them again. */
  async freeze(ms: number): Promise<void> {
    await this.server.kill("SIGSTOP");
    await delay(ms);
    await this.server.kill("SIGCONT");
    await this.isSynced();
  }

  /**
   * Starts again on its own data, as the service does: it finds out up to where it has everything, and the others send what
   * came since, or all of it.
   */
  async rejoin(): Promise<void> {
    const { binaries, argv } = this.server;
    const said = await this.server.run(binaries.server, [...argv, "--wsrep-recover"]);
    const [, position] = /Recovered position: (\S+)/.exec(said) ?? [];
    await this.server.restart({ ...this.#settings, ...(position && { "wsrep-start-position": position }) });
    await this.isSynced();
  }

  /** Resolves when it has all that the others have, and answers. */
  async isSynced(): Promise<void> {
    const endMs = Date.now() + joinMs;
    let state = "";
    while (state !== "Synced") {
      if (Date.now() > endMs) throw new Error(`A node did not join the cluster: ${state}`);
      state = await this.#state().catch((error: Error) => error.message);
      if (state !== "Synced") await delay(50);
    }
  }

  async #state(): Promise<string> {
    const connection = await createConnection(this.server.url);
    try {
      const [rows] = await connection.query<RowDataPacket[]>("SHOW STATUS LIKE 'wsrep_local_state_comment'");
      return String(rows[0]?.Value);
    } finally {
      connection.destroy();
    }
  }
}

function settingsOf(n: number, { group, changes, data }: Ports): Record<string, string | number> {
  const options = {
    ...groupOptions,
    "gmcast.listen_addr": `tcp://127.0.0.1:${group}`,
    "ist.recv_addr": `127.0.0.1:${changes}`,
  };
  return {
    "wsrep-on": "ON",
    "wsrep-provider": programsOf("mysql")?.galera ?? "none",
    "wsrep-provider-options": Object.entries(options)
      .map(([name, value]) => `${name}=${value}`)
      .join(";"),
    "wsrep-cluster-name": "everstep",
    "wsrep-node-name": `node${n}`,
    "wsrep-node-address": "127.0.0.1",
    "wsrep-sst-method": "rsync",
    "wsrep-sst-receive-address": `127.0.0.1:${data}`,
    "binlog-format": "ROW",
    "innodb-autoinc-lock-mode": 2,
  };
}
