const plain = new Intl.NumberFormat("en");

export function spokenNumber(value: number): string {
  return plain.format(value);
}

/** "12 B", "3.4 KB". */
export function spokenBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

/** "1 instance", "2 instances". */
export function counted(count: number, noun: string): string {
  return `${plain.format(count)} ${noun}${count === 1 ? "" : "s"}`;
}
