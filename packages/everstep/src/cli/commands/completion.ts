import { type Command, defineCommand } from "../command.ts";
import { bashScript } from "../completion/bash.ts";
import { fishScript } from "../completion/fish.ts";
import { offersOf } from "../completion/offers.ts";
import { zshScript } from "../completion/zsh.ts";

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };

export function createCompletion(commands: () => readonly Command[]): Command {
  return defineCommand({
    path: ["completion"],
    group: "Help",
    summary: "print the script that lets a shell complete commands and options",
    arguments: [{ name: "shell", choices: ["bash", "zsh", "fish"], summary: "which one" }],
    examples: [
      { line: "completion bash", about: "in ~/.bashrc: source <(everstep completion bash)" },
      { line: "completion zsh", about: "in ~/.zshrc, after compinit: source <(everstep completion zsh)" },
      { line: "completion fish", about: "once, into ~/.config/fish/completions/everstep.fish" },
    ],
    async run({ values, out }) {
      out.raw(scripts[values.shell](offersOf(commands())));
    },
  });
}
