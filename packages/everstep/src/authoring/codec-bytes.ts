/** UTF-8 bytes of a text, without making them. */
export function utf8Bytes(value: string): number {
  let bytes = value.length;
  for (let index = 0; index < value.length; index++) {
    const unit = value.charCodeAt(index);
    if (unit < 0x80) continue;
    if (unit < 0x800) {
      bytes += 1;
      continue;
    }
    bytes += 2;
    // A pair is four bytes for two units; a lone surrogate is stored as U+FFFD, three bytes like any other.
    if (unit < 0xd800 || unit > 0xdbff) continue;
    const next = value.charCodeAt(index + 1);
    if (next >= 0xdc00 && next <= 0xdfff) index++;
  }
  return bytes;
}

/** Bytes per piece: a multiple of three, so that pieces of base64 can be joined, and few enough to be arguments. */
const base64Piece = 6 * 1024;

export function toBase64(bytes: Uint8Array): string {
  let base64 = "";
  for (let start = 0; start < bytes.length; start += base64Piece) {
    const piece = bytes.subarray(start, start + base64Piece);
    // Ten times faster than spreading the piece, which would step through its iterator.
    base64 += btoa(String.fromCharCode.apply(null, piece as unknown as number[]));
  }
  return base64;
}

export function fromBase64(base64: string): Uint8Array<ArrayBuffer> {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index);
  return bytes;
}
