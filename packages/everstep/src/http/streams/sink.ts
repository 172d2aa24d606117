/** One open stream of server-sent events. */
export interface Sent {
  readonly event: string;
  readonly data: unknown;
  readonly id?: string;
}

export class Sink {
  readonly body: ReadableStream<Uint8Array>;
  readonly #encoder = new TextEncoder();
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

  send({ event, data, id }: Sent): void {
    const lines = [
      ...(id === undefined ? [] : [`id: ${id}`]),
      `event: ${event}`,
      `data: ${JSON.stringify(data)}`,
    ];
    this.write(`${lines.join("\n")}\n\n`);
  }

  write(text: string): void {
    if (this.#isOpen) this.#controller?.enqueue(this.#encoder.encode(text));
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
