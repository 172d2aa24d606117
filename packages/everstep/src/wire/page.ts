import { flag, type Infer, object, optional, text } from "./schema.ts";

/** What every page of a list has beside its items. */
export const pageEnd = {
  /** Given when there is more. */
  cursor: optional(text()),
  hasNextPage: flag,
} as const;

const pageEndShape = object(pageEnd);
export interface PageEnd extends Infer<typeof pageEndShape> {}

/** One page of a list. */
export interface PageView<Item> extends PageEnd {
  readonly items: readonly Item[];
}
