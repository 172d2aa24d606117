/**
 * What the store needs of the driver mysql2, described by its shape, so that nobody needs the driver's types who does
 * not use it. Loaded at the first call only.
 */
import { EverstepError } from "../../model/error.ts";

/** A connection as `mysql2/promise` hands it out: what authors' mutations and callers' transactions work with. */
export interface MysqlClient {
  // biome-ignore lint/suspicious/noExplicitAny: the driver's own queries and results, which have many shapes
  query(query: any, values?: any): Promise<any>;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  execute(query: any, values?: any): Promise<any>;
}

export interface Driver {
  createPool(options: object): DriverPool;
  /** Puts values into a statement's text, escaped. */
  format(sql: string, values: readonly unknown[]): string;
}

export interface DriverPool {
  getConnection(): Promise<DriverConnection>;
  end(): Promise<void>;
}

export interface DriverConnection extends MysqlClient {
  release(): void;
  destroy(): void;
  /** The connection itself, of which this is a view. */
  readonly connection: DriverCore;
}

export interface DriverCore {
  query(
    options: { readonly sql: string; readonly timeout: number },
    callback: (error: unknown, answer: unknown) => void,
  ): unknown;
  on(event: "error", listener: (error: unknown) => void): unknown;
  readonly stream?: { destroy?(): unknown; ref?(): unknown; unref?(): unknown };
}

export async function loadDriver(): Promise<Driver> {
  try {
    const module = (await import("mysql2/promise")) as unknown as Driver & { readonly default?: Driver };
    return module.default ?? module;
  } catch (cause) {
    throw new EverstepError(
      "RUNTIME_UNSUPPORTED",
      "The MySQL store needs the package mysql2, which could not be loaded. Install it: npm install mysql2",
      { cause },
    );
  }
}
