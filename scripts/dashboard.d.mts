/** Resolves when the built dashboard is what its sources say; fails if it cannot be built. */
export function ensureDashboard(tools?: {
  readonly npm: (
    args: readonly string[],
    options?: { readonly env?: Readonly<Record<string, string>>; readonly stdio?: readonly unknown[] },
  ) => Promise<number>;
}): Promise<void>;
