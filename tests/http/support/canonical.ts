/** Any graph of plain data as text: equal texts for equal data, whatever refers to whatever. */
export function canonical(value: unknown): string {
  const parts: string[] = [];
  const seen = new Map<object, number>();
  const write = (each: unknown): void => {
    if (typeof each !== "object" || each === null) {
      parts.push(typeof each === "string" ? JSON.stringify(each) : String(each));
      return;
    }
    const known = seen.get(each);
    if (known !== undefined) {
      parts.push(`#${known}`);
      return;
    }
    seen.set(each, seen.size);
    parts.push(each.constructor?.name ?? "", "(");
    if (each instanceof Map) for (const [key, item] of each) writeEntry(key, item);
    else if (each instanceof Set) for (const item of each) writeEntry("", item);
    else for (const key of Object.keys(each)) writeEntry(key, (each as Record<string, unknown>)[key]);
    parts.push(")");
  };
  const writeEntry = (key: unknown, item: unknown): void => {
    write(key);
    parts.push(":");
    write(item);
    parts.push(",");
  };
  write(value);
  return parts.join("");
}
