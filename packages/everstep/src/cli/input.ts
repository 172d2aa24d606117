/** What comes in from whoever called: text in a pipe, or a person at a terminal. */
export interface Input {
  readonly isTerminal: boolean;
  /** Everything up to its end; a UsageError as soon as that is more than so many bytes. */
  read(maxBytes: number): Promise<string>;
  /** One line from the person at the terminal; null when it ends before that. */
  ask(question: string): Promise<string | null>;
}
