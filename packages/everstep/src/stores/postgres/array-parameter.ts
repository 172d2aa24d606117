/**
 * The values of one column as one parameter, in the server's own binary form: nothing has to be quoted here or parsed
 * there.
 */
import { escapeText } from "../sql/rows/text-escape.ts";

const headBytes = 20;
const integerType = 20;
const textType = 25;
const nullLength = -1;

export function integerArray(values: readonly (number | null)[]): Buffer {
  const bytes = Buffer.allocUnsafe(headBytes + values.length * 12);
  let at = writeHead(bytes, integerType, values.length);
  for (const value of values) {
    if (value === null) {
      at = bytes.writeInt32BE(nullLength, at);
      continue;
    }
    at = bytes.writeInt32BE(8, at);
    // Any safe integer, also a negative one: the upper half is rounded down, the lower half is what is left.
    const upper = Math.floor(value / 0x1_0000_0000);
    at = bytes.writeInt32BE(upper, at);
    at = bytes.writeUInt32BE(value - upper * 0x1_0000_0000, at);
  }
  return bytes.subarray(0, at);
}

export function textArray(values: readonly (string | null)[]): Buffer {
  const texts = values.map((value) => (value === null ? null : escapeText(value)));
  let size = headBytes + texts.length * 4;
  for (const text of texts) if (text !== null) size += Buffer.byteLength(text);
  const bytes = Buffer.allocUnsafe(size);
  let at = writeHead(bytes, textType, texts.length);
  for (const text of texts) {
    if (text === null) {
      at = bytes.writeInt32BE(nullLength, at);
      continue;
    }
    const length = bytes.write(text, at + 4);
    bytes.writeInt32BE(length, at);
    at += 4 + length;
  }
  return bytes;
}

/** One dimension, counted from 1, in which nulls may be. */
function writeHead(bytes: Buffer, type: number, length: number): number {
  let at = bytes.writeInt32BE(1, 0);
  at = bytes.writeInt32BE(1, at);
  at = bytes.writeInt32BE(type, at);
  at = bytes.writeInt32BE(length, at);
  return bytes.writeInt32BE(1, at);
}
