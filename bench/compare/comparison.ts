/** everstep and the alternatives on the same server or disk, one after the other in every round. */
import type { Ground, Room } from "../grounds/ground.ts";
import { reasonText } from "../reason-text.ts";
import type { Bench, Figures, LineSpec, Workload } from "../workload.ts";
import { alternative as everstep } from "./adapters/everstep.ts";
import type { Alternative } from "./alternative.ts";
import { adapterOf } from "./catalogue.ts";
import type { ComparedLibrary } from "./compared-library.ts";
import { type Found, measureContender } from "./contender-process.ts";
import { comparisonLines } from "./lines.ts";
import type { Prepared } from "./prepare.ts";

export interface Comparison {
  readonly workload: Workload;
  /** How many alternatives there are. */
  readonly count: number;
  /** What is to be said of each library, once measured. */
  libraries(): readonly ComparedLibrary[];
}

export function compareWith(prepared: readonly Prepared[]): Comparison {
  const described = new Map<string, ComparedLibrary>();
  const describe = (
    { name, title, packages, notes }: Alternative,
    found: Found | null,
    failure = "",
  ): void => {
    const lacks = [...(found?.lacks ?? [])];
    described.set(name, {
      name,
      title,
      version: Object.values(packages)[0] ?? "as it is here",
      settings: found?.settings ?? "not measured",
      notes: [
        ...notes,
        ...lacks.map(([what, reason]) => `Without ${what}: ${reason}.`),
        ...(failure && [`It failed: ${failure}.`]),
      ].join(" "),
    });
  };

  const measureOne = async (bench: Bench, one: Alternative, task: OneTask): Promise<Figures> => {
    const note = (what: string): void => bench.note(`${one.title}, ${what}`);
    try {
      const { name: store } = bench.ground;
      const found = await measureContender({ ...task, store, sizes: bench.sizes.compared }, note);
      describe(one, found);
      return named(one.name, found.figures);
    } catch (reason) {
      if (one === everstep) throw reason;
      describe(one, null, reasonText(reason));
      note(`failed: ${reasonText(reason)}`);
      return {};
    }
  };

  const measureOwn = async (bench: Bench): Promise<Figures> => {
    const place = bench.freshPlace();
    const store = place.open();
    await store.migrate();
    await store.close();
    const room = { url: place.key, prefix: "" };
    return measureOne(bench, everstep, { adapter: adapterOf("everstep"), loader: null, room });
  };
  const measureOther = (bench: Bench, { alternative, adapter, loader }: Prepared): Promise<Figures> =>
    inRoom(bench.ground, ({ url, prefix }) =>
      measureOne(bench, alternative, { adapter, loader, room: { url, prefix } }),
    );

  // Every second round goes the other way, so that it is not always the same one that comes first.
  let rounds = 0;
  const measure = async (bench: Bench): Promise<Figures> => {
    const turns = [null, ...prepared];
    let figures: Figures = {};
    for (const turn of rounds++ % 2 === 0 ? turns : turns.toReversed()) {
      const found = turn === null ? measureOwn(bench) : measureOther(bench, turn);
      figures = { ...figures, ...(await found) };
    }
    return figures;
  };

  const titles = prepared.map(({ alternative: { name, title } }) => ({ name, title }));
  return {
    count: prepared.length,
    workload: {
      name: "compare",
      about: "the same work by other libraries, each in a process of its own",
      beside: "the other",
      roundsMax: 2,
      minutesMax: 30,
      measure,
      lines: (sizes, ground): readonly LineSpec[] => comparisonLines(titles, sizes, ground),
    },
    libraries: () => [everstep, ...titles].flatMap(({ name }) => described.get(name) ?? []),
  };
}

interface OneTask {
  readonly adapter: string;
  readonly loader: string | null;
  readonly room: { readonly url: string; readonly prefix: string };
}

async function inRoom<Result>(ground: Ground, act: (room: Room) => Promise<Result>): Promise<Result> {
  if (ground.freshRoom === null) throw new Error(`Nothing is compared on ${ground.title}.`);
  const room = await ground.freshRoom();
  try {
    return await act(room);
  } finally {
    await room.remove();
  }
}

function named(name: string, figures: Figures): Figures {
  return Object.fromEntries(Object.entries(figures).map(([figure, value]) => [`${name} ${figure}`, value]));
}
