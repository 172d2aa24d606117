import type { Offer, Offers } from "./offers.ts";

export function fishScript(offers: Offers): string {
  const words = [...offers.words].flatMap(([path, list]) =>
    list.map(
      ({ text, about }) => `complete -c everstep -n '__everstep_is "${path}"' -a ${text} -d ${quoted(about)}`,
    ),
  );
  const options = [...offers.options].flatMap(([path, list]) =>
    list.map((offer) => `complete -c everstep -n '__everstep_in "${path}"' ${optionText(offer, offers)}`),
  );
  return `# Completion of everstep for fish. Once: everstep completion fish > ~/.config/fish/completions/everstep.fish
function __everstep_typed
    set -l typed
    for word in (commandline -opc)[2..-1]
        string match -q -- '-*' $word; and break
        set -a typed $word
    end
    echo "$typed"
end
function __everstep_is
    test (__everstep_typed | string collect) = "$argv[1]"
end
function __everstep_in
    string match -q -- "$argv[1] *" (__everstep_typed | string collect)" "
end
complete -c everstep -f
${[...words, ...options].join("\n")}
`;
}

function optionText({ text, about, short }: Offer, { values }: Offers): string {
  const letter = short === undefined ? "" : ` -s ${short.slice(1)}`;
  const offered = values.get(text);
  const value =
    offered === undefined
      ? ""
      : offered === "files"
        ? " -rF"
        : offered === "none"
          ? " -x"
          : ` -xa "${offered.join(" ")}"`;
  return `-l ${text.slice(2)}${letter}${value} -d ${quoted(about)}`;
}

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&")}'`;
}
