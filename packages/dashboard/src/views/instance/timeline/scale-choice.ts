/** How a person chose to see time, kept for this tab: the next timeline is drawn in the same way. */
export type ScaleChoice = "compressed" | "full";

const key = "everstep.scale";

export function readScaleChoice(asked: string | null): ScaleChoice | null {
  const chosen = asked ?? sessionStorage.getItem(key);
  return chosen === "compressed" || chosen === "full" ? chosen : null;
}

export function keepScaleChoice(choice: ScaleChoice): void {
  sessionStorage.setItem(key, choice);
}
