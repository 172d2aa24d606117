import { Monitor, Moon, Sun } from "lucide-react";
import { useState } from "react";
import { chooseTheme, readTheme } from "./chosen-theme.ts";
import { nextTheme, type Theme } from "./theme.ts";

const looks = {
  system: { Icon: Monitor, words: "as the system is" },
  light: { Icon: Sun, words: "light" },
  dark: { Icon: Moon, words: "dark" },
} as const;

export function ThemeButton() {
  const [theme, setTheme] = useState<Theme>(readTheme);
  const { Icon, words } = looks[theme];
  const next = nextTheme(theme);
  const choose = (): void => {
    chooseTheme(next);
    setTheme(next);
  };
  const text = `Theme: ${words}. Switch to ${looks[next].words}`;
  return (
    <button type="button" className="quiet tiny icon-only" onClick={choose} aria-label={text} title={text}>
      <Icon aria-hidden />
    </button>
  );
}
