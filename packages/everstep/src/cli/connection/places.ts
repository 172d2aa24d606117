/** Where settings are looked for, and who hears of what is odd about them. */
export interface Places {
  readonly cwd: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  warn(message: string): void;
}
