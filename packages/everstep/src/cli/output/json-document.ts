/** A value as JSON in which nothing can steer a terminal: what JSON lets stand as it is, is escaped the way JSON does. */
export function jsonDocument(value: unknown): string {
  return `${JSON.stringify(value, null, 2).replace(steering, escaped)}\n`;
}

/** The same in one line, for lists. */
export function jsonLine(value: unknown): string {
  return `${JSON.stringify(value).replace(steering, escaped)}\n`;
}

// JSON escapes the first 32 characters itself, and the line feeds between its lines are meant.
const steering = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu;

function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, at) => {
    return `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`;
  }).join("");
}
