/**
 * Any text of JavaScript for databases that keep only well-formed text without NUL: what they would refuse or replace is
 * written in another way, and comes back as it was. Equal texts stay equal, different ones different.
 */

const nul = "\u0000";
/** Opens an escape; on its own it is written as one too. Nobody writes this control character in earnest. */
const opening = "\u0001";

const unfit = new RegExp(`[${nul}${opening}]|\\p{Surrogate}`, "gu");
const escaped = new RegExp(`${opening}([0-9a-f]{4})`, "g");

export function escapeText(text: string): string {
  if (!text.includes(nul) && !text.includes(opening) && isWellFormed(text)) return text;
  return text.replace(
    unfit,
    (character) => `${opening}${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

export function unescapeText(text: string): string {
  if (!text.includes(opening)) return text;
  return text.replace(escaped, (_whole, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

/** Every engine has it; the library's language level does not name it yet. */
function isWellFormed(text: string): boolean {
  return (text as string & { isWellFormed(): boolean }).isWellFormed();
}
