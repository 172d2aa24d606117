/** What the bench and the process that serves say to each other. */
export type ServerRequest = "usage";

export type ServerMessage =
  | { readonly kind: "ready"; readonly url: string }
  /** Processor time of the process so far, and the memory it holds. */
  | { readonly kind: "usage"; readonly cpuUs: number; readonly memoryMiB: number };

/** Known to both: who has no token is refused, as in life. */
export const token = "a-token-that-only-the-bench-knows";
