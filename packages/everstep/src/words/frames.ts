/** The frames of a stack: the author's own, and those of the engine, of libraries and of the runtime. */

export interface Frame {
  readonly text: string;
  readonly isOwn: boolean;
}

/** Whose code a frame is in, where it is not the author's. */
const others = /node_modules|[\\/]packages[\\/]everstep[\\/]|\bnode:|\(native\)|<anonymous>\)?$/;

export function framesOf(stack: string): readonly Frame[] {
  return stack
    .split("\n")
    .filter((line) => /^ {4}at\s/.test(line))
    .map((line) => ({ text: line.trim().replace("file://", ""), isOwn: !others.test(line) }));
}

/** Where the author's code threw, or called what threw. */
export function ownFrame(stack: string | undefined): string | null {
  return framesOf(stack ?? "").find(({ isOwn }) => isOwn)?.text ?? null;
}
