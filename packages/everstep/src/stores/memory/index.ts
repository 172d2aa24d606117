export type { AuthorRowsHandle } from "./author-rows.ts";
export { UniqueViolation } from "./author-rows.ts";
export type { MemoryDatabase, MemoryDatabaseOptions } from "./database.ts";
export { createMemoryDatabase } from "./database.ts";
export type { MemoryOptions } from "./memory-store.ts";
export { MemoryStore, memory } from "./memory-store.ts";
