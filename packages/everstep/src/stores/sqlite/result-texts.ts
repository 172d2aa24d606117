/**
 * Result codes by what SQLite says of them, for runtimes whose errors do not always carry the number: Deno's do not when
 * a file is opened, nor when statements are executed without being prepared.
 */
const codes: readonly (readonly [string, number])[] = [
  ["database is locked", 5],
  ["database table is locked", 6],
  ["database schema is locked", 6],
  ["out of memory", 7],
  ["attempt to write a readonly database", 8],
  ["interrupted", 9],
  ["disk I/O error", 10],
  ["database disk image is malformed", 11],
  ["database or disk is full", 13],
  ["unable to open database file", 14],
  ["locking protocol", 15],
  ["database schema has changed", 17],
  ["string or blob too big", 18],
  ["UNIQUE constraint failed", 2067],
  ["NOT NULL constraint failed", 1299],
  ["FOREIGN KEY constraint failed", 787],
  ["CHECK constraint failed", 275],
  ["constraint failed", 19],
  ["datatype mismatch", 20],
  ["authorization denied", 23],
  ["file is not a database", 26],
];

/** Whatever else SQLite complains about is an error of the statement: its code is 1. */
export function resultCodeOf(text: string): number {
  return codes.find(([beginning]) => text.startsWith(beginning))?.[1] ?? 1;
}
