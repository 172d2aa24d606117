/** How many columns of a terminal a text takes. Of cleaned text: what it escapes would count otherwise. */
export function widthOf(text: string): number {
  if (plain.test(text)) return text.length;
  let width = 0;
  for (const { segment } of characters.segment(text)) width += wide.test(segment) ? 2 : 1;
  return width;
}

/** The text if it fits, else its beginning and an ellipsis. */
export function shortened(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = "";
  let left = width - 1;
  for (const { segment } of characters.segment(text)) {
    left -= widthOf(segment);
    if (left < 0) break;
    kept += segment;
  }
  return `${kept}…`;
}

const characters = new Intl.Segmenter("en", { granularity: "grapheme" });
const plain = /^[\u0020-\u007e]*$/;
// East Asian wide and fullwidth characters, and what is drawn as an emoji.
const wide =
  /^(?:[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\p{Emoji}\ufe0f)/u;
