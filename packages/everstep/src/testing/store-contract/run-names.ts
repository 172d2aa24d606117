/** Gives runs the same names in both stores: by order of first appearance. */
export class RunNames {
  readonly #names = new Map<unknown, string>();

  replacedIn(data: unknown): unknown {
    if (Array.isArray(data)) return data.map((item) => this.replacedIn(item));
    if (typeof data !== "object" || data === null) return data;
    return Object.fromEntries(
      Object.entries(data).map(([name, part]) => [name, this.#replaced(name, part, data)]),
    );
  }

  #replaced(
    name: string,
    part: unknown,
    { topic, duplicate }: { topic?: unknown; duplicate?: unknown },
  ): unknown {
    // The id of a published event contains its run.
    if (name === "id" && typeof topic === "string") return undefined;
    // Whom a repeated publication names, and which of its changes an instance counts as updates, is left to the store.
    if ((name === "runIds" && duplicate === true) || name === "updatedAt") return undefined;
    if (name === "runIds") return (part as readonly unknown[]).map((runId) => this.#nameOf(runId)).sort();
    return name === "runId" ? this.#nameOf(part) : this.replacedIn(part);
  }

  #nameOf(runId: unknown): string {
    const name = this.#names.get(runId) ?? `run ${this.#names.size + 1}`;
    this.#names.set(runId, name);
    return name;
  }
}
