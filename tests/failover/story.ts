/**
 * A story about data that goes back in time, told in three parts:
 *
 *   ...what is kept...  yield  ...what is lost...  yield  ...what may and may not happen afterwards
 *
 * All stories of a test file go through the same loss, each in a namespace of its own.
 */
import type { Handle } from "./rewind.ts";

export interface Cast {
  readonly namespace: string;
  /** Two processes. */
  readonly a: Handle;
  readonly b: Handle;
  /** The data is a file: processes have to stop before it is replaced. */
  readonly stops: boolean;
}

export interface Story {
  readonly name: string;
  tell(cast: Cast): AsyncGenerator<void, void, void>;
}
