/** The theme that a person chose, kept for this browser. */
import { type Theme, themes } from "./theme.ts";

const key = "everstep.theme";

export function readTheme(): Theme {
  const kept = localStorage.getItem(key);
  return themes.find((theme) => theme === kept) ?? "system";
}

/** What is as it is without a choice is not kept. */
export function chooseTheme(theme: Theme): void {
  if (theme === "system") localStorage.removeItem(key);
  else localStorage.setItem(key, theme);
  showTheme(theme);
}

export function showTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme;
}
