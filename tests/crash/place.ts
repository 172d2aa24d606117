/** A store by its name, and where its data is: a file, or a namespace on the server that the environment names. */
import { sqlite } from "everstep/sqlite";
import type { Store } from "everstep/store";
import { serverStores } from "../support/server-stores.ts";

export function openPlace(storeName: string, place: string): Store {
  if (storeName === "sqlite") return sqlite(place);
  const server = serverStores.find(({ name }) => name === storeName);
  if (!server) throw new Error(`There is no store ${storeName}.`);
  return server.open(place);
}
