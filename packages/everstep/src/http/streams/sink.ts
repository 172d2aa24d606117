/** One open stream of server-sent events. */
export interface Sent {
  readonly event: string;
  readonly data: unknown;
  readonly id?: string;
}

const encoder = new TextEncoder();

/** An event whose data is JSON text already. */
export function encodedEvent(sent: Omit<Sent, "data"> & { readonly text: string }): Uint8Array {
  const lines = [
    ...(sent.id === undefined ? [] : [`id: ${sent.id}`]),
    `event: ${sent.event}`,
    `data: ${sent.text}`,
  ];
  return encoder.encode(`${lines.join("\n")}\n\n`);
}

export class Sink {
  readonly body: ReadableStream<Uint8Array>;
  readonly #onClose: () => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  #isOpen = true;
  #onPull: (() => void) | null = null;

  constructor(onClose: () => void) {
    this.#onClose = onClose;
    this.body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
      pull: () => {
        this.#onPull?.();
        this.#onPull = null;
      },
      cancel: () => this.close(),
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Whoever reads has taken what was sent. */
  get hasRoom(): boolean {
    return (this.#controller?.desiredSize ?? 0) > 0;
  }

  /** Resolves when whoever reads has taken what was sent; nothing is piled up for a slow one. */
  async ready(): Promise<void> {
    if (!this.#isOpen || this.hasRoom) return;
    await new Promise<void>((resolve) => {
      this.#onPull = resolve;
    });
  }

  send({ data, ...sent }: Sent): void {
    this.writeBytes(encodedEvent({ ...sent, text: JSON.stringify(data) }));
  }

  write(text: string): void {
    this.writeBytes(encoder.encode(text));
  }

  writeBytes(bytes: Uint8Array): void {
    if (this.#isOpen) this.#controller?.enqueue(bytes);
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#onPull?.();
    try {
      this.#controller?.close();
    } catch {
      // Whoever read it has gone away already.
    }
    this.#onClose();
  }
}
