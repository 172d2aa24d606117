/** Times and pieces of text, short enough for one line. */
const lengthMax = 140;

export function shortened(text: string): string {
  const [line = ""] = text.split("\n", 1);
  const isCut = line.length < text.length || line.length > lengthMax;
  return isCut ? `${line.slice(0, lengthMax)}…` : line;
}

/** 14:03:22, as the clock on the wall says. */
export function timeOfDay(epochMs: number): string {
  const time = new Date(epochMs);
  return [time.getHours(), time.getMinutes(), time.getSeconds()]
    .map((part) => String(part).padStart(2, "0"))
    .join(":");
}
