/**
 * Text from elsewhere, made harmless: whatever could move the cursor, hide or reorder text, set a title or write to the
 * clipboard is shown as an escape (`\x1b`) instead of being sent to the terminal.
 */
export function cleaned(text: string): string {
  return text.replace(steering, escaped);
}

// Controls (C0, C1), format characters (bidi marks and overrides, tags, zero-width ones), line and paragraph separators,
// halves of a character. The joiners of Persian and of emoji steer nothing.
const steering = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

function escaped(character: string): string {
  const named = names[character];
  if (named !== undefined) return named;
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x100) return `\\x${hex(code, 2)}`;
  return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\u{${hex(code, 0)}}`;
}

const names: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function hex(code: number, width: number): string {
  return code.toString(16).padStart(width, "0");
}
