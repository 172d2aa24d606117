/**
 * What the store needs of the driver pg, described by its shape, so that nobody needs the driver's types who does not
 * use it. Loaded at the first call only.
 */
import { EverstepError } from "../../model/error.ts";

/** A client as `pg` hands it out: what authors' mutations and callers' transactions work with. */
export interface PostgresClient {
  // biome-ignore lint/suspicious/noExplicitAny: the driver's own queries and results, which have many shapes
  query(query: any, values?: any): Promise<any>;
}

export interface Driver {
  readonly Client: new (config: object) => DriverClient;
  readonly Pool: new (config: object) => DriverPool;
}

export interface DriverClient {
  query(query: DriverQuery): Promise<DriverResult>;
  connect(): Promise<unknown>;
  end(): Promise<void>;
  on(event: "error", listener: (error: unknown) => void): unknown;
  on(event: "notification", listener: (message: DriverNotification) => void): unknown;
  on(event: "end", listener: () => void): unknown;
  /** The process of the server, as it was told at the start. */
  readonly processID?: number;
  /** I: idle, T: in a transaction, E: in one that failed. */
  getTransactionStatus?(): string | null;
  readonly connection?: { readonly stream?: { cork?(): void; uncork?(): void; destroy?(): void } };
}

export interface DriverPoolClient extends DriverClient {
  release(destroy?: boolean): void;
}

export interface DriverPool {
  connect(): Promise<DriverPoolClient>;
  end(): Promise<void>;
  on(event: "error", listener: (error: unknown) => void): unknown;
  on(event: "connect", listener: (client: DriverPoolClient) => void): unknown;
}

export interface DriverQuery {
  readonly text: string;
  readonly name?: string;
  readonly values?: readonly unknown[];
  readonly types?: { getTypeParser(type: number): (value: string) => unknown };
}

export interface DriverResult {
  readonly command: string | null;
  readonly rowCount: number | null;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

export interface DriverNotification {
  readonly channel: string;
  readonly payload?: string;
}

export async function loadDriver(): Promise<Driver> {
  try {
    const module = (await import("pg")) as unknown as Driver & { readonly default?: Driver };
    return module.default ?? module;
  } catch (cause) {
    throw new EverstepError(
      "DRIVER_MISSING",
      "The PostgreSQL store needs the package pg, which could not be loaded. Install it: npm install pg",
      { cause },
    );
  }
}
