/** Gives somebody a file that was made here. */
export function download(name: string, content: unknown): void {
  const blob = new Blob([`${JSON.stringify(content, undefined, 2)}\n`], { type: "application/json" });
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads it after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Without anything that could mean something in a path. */
export function fileName(...parts: readonly (string | number)[]): string {
  return `${parts.join("-").replace(/[^\w-]+/g, "_")}.json`;
}
