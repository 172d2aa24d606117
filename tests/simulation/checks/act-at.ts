import type { Act } from "../programs/program.ts";

/** The act that stands at a place of a program; the same for every round of a loop and every use of a name. */
export function actAt(program: Act, path: string): Act | undefined {
  const [, ...places] = path.split(".").map(Number);
  return places.reduce<Act | undefined>(
    (act, place) => (act === undefined ? undefined : within(act, place)),
    program,
  );
}

function within(act: Act, place: number): Act | undefined {
  switch (act.kind) {
    case "do":
      return act.inner ?? undefined;
    case "stray":
      return act.act;
    case "try":
    case "loop":
    case "again":
      return act.act;
    case "sequence":
    case "all":
    case "race":
    case "any":
    case "allSettled":
      return act.acts[place];
    default:
      return undefined;
  }
}
