/** Standard input, as an input. */
import { createInterface } from "node:readline";
import { cleaned } from "../model/clean-text.ts";
import type { Input } from "./input.ts";
import { tooLarge } from "./problems.ts";

/** Questions go to `questions`, so that the answer can be redirected without them. */
export function processInput(stdin: NodeJS.ReadStream, questions: NodeJS.WritableStream): Input {
  return {
    isTerminal: stdin.isTTY === true,
    async read(maxBytes) {
      const parts: Buffer[] = [];
      let bytes = 0;
      for await (const part of stdin as AsyncIterable<Buffer>) {
        bytes += part.byteLength;
        if (bytes > maxBytes) throw tooLarge("Standard input", maxBytes);
        parts.push(part);
      }
      return Buffer.concat(parts).toString("utf8");
    },
    ask(question) {
      // The terminal itself edits the line, so that Ctrl-C stays what it is everywhere else.
      const lines = createInterface({ input: stdin, output: questions, terminal: false });
      return new Promise((resolve) => {
        lines.once("close", () => resolve(null));
        lines.question(cleaned(question), (answer) => {
          resolve(answer);
          lines.close();
        });
      });
    },
  };
}
