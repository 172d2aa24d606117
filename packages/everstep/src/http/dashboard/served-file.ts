import { digestOf } from "../etag.ts";
import type { DashboardFile } from "./dashboard.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** One file, unpacked when somebody first asks for it and kept from then on. */
export class ServedFile {
  readonly type: string;
  readonly isHashed: boolean;
  readonly digest: string;
  readonly #base64: string;
  #packed: Bytes | null = null;
  #plain: Promise<Bytes> | null = null;

  constructor({ type, isHashed, gzip }: DashboardFile) {
    this.type = type;
    this.isHashed = isHashed;
    this.digest = digestOf(gzip);
    this.#base64 = gzip;
  }

  /** As gzip. */
  get packed(): Bytes {
    this.#packed ??= Uint8Array.from(atob(this.#base64), (char) => char.charCodeAt(0));
    return this.#packed;
  }

  plain(): Promise<Bytes> {
    this.#plain ??= unpacked(this.packed);
    return this.#plain;
  }
}

async function unpacked(bytes: Bytes): Promise<Bytes> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
