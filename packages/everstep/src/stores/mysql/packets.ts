/** How statements are laid out for the way: as many in one packet as the server accepts, so mostly all of them. */
import { StoreError } from "../../model/error.ts";
import type { SqlResult, Statement } from "../sql/session.ts";
import type { Render } from "./literal.ts";
import { isDivisible } from "./rows.ts";

export interface Packet {
  readonly sql: string;
  /** How many answers come back. */
  readonly count: number;
}

export interface Layout {
  readonly packets: readonly Packet[];
  /** One result for each statement, from the answers to all packets. */
  collect(answers: readonly SqlResult[]): readonly SqlResult[];
}

// The server counts the command itself and keeps a reserve for its own additions.
const reserveBytes = 1024;
// On a line of its own, so that no comment can swallow it.
const separator = "\n;\n";

export function layOut(statements: readonly Statement[], render: Render, maxBytes: number): Layout {
  const room = maxBytes - reserveBytes;
  const texts = statements.map((statement) => textsOf(statement, render, room));
  return {
    packets: fill(texts.flat(), room),
    collect(answers) {
      let end = 0;
      return texts.map(({ length }) => {
        end += length;
        return merge(answers.slice(end - length, end));
      });
    },
  };
}

function textsOf(statement: Statement, render: Render, room: number): readonly string[] {
  const text = render(statement);
  if (sizeOf(text) <= room) return [text];
  if (isDivisible(statement)) return statement.halve().flatMap((half) => textsOf(half, render, room));
  throw tooLarge(sizeOf(text), room);
}

function fill(texts: readonly string[], room: number): readonly Packet[] {
  const groups: string[][] = [];
  let left = 0;
  for (const text of texts) {
    if (sizeOf(text) > left) {
      groups.push([]);
      left = room;
    }
    groups.at(-1)?.push(text);
    left -= sizeOf(text);
  }
  return groups.map((group) => ({ sql: group.join(separator), count: group.length }));
}

function sizeOf(text: string): number {
  return Buffer.byteLength(text) + separator.length;
}

function merge(answers: readonly SqlResult[]): SqlResult {
  const [only] = answers;
  if (answers.length === 1 && only !== undefined) return only;
  return {
    rows: answers.flatMap(({ rows }) => rows),
    changes: answers.reduce((sum, { changes }) => sum + changes, 0),
  };
}

function tooLarge(bytes: number, room: number): StoreError {
  return new StoreError(
    "too-large",
    "PAYLOAD_TOO_LARGE",
    `A statement of ${bytes} bytes is more than the server accepts at once (${room} bytes). ` +
      "Raise max_allowed_packet, or keep large values elsewhere and store where they are.",
  );
}
