/**
 * Whether a pooler (PgBouncer) stands before the server and hands out its connections per transaction: then nothing may be
 * prepared and nothing set for a session. Users may say so. Otherwise it is found out: a pooler tells its clients another
 * process than the one that answers them.
 */
import type { DriverClient } from "./driver.ts";

export class Pooling {
  #isPooled: boolean | undefined;

  constructor(given: boolean | undefined) {
    this.#isPooled = given;
  }

  /** Known once somebody has said so or found out. */
  get isPooled(): boolean {
    return this.#isPooled ?? false;
  }

  /** `create` makes a client that asks for no settings: a pooler refuses those it does not know. */
  async findOut(create: () => DriverClient): Promise<void> {
    if (this.#isPooled !== undefined) return;
    const client = create();
    client.on("error", () => {});
    try {
      await client.connect();
      const { rows } = await client.query({ text: "SELECT pg_backend_pid() AS pid" });
      this.#isPooled = client.processID !== undefined && rows[0]?.pid !== client.processID;
    } finally {
      client.end().catch(() => {});
    }
  }
}
