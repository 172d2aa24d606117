import type { PageView } from "../wire/page.ts";
import type { InstanceHandle } from "./instance-handle.ts";
import type {
  CreateArguments,
  CreateOptions,
  ListOptions,
  RestartedOrCreated,
  RestartOrCreateOptions,
  WithinOptions,
} from "./options.ts";
import type { InstanceView } from "./views.ts";

/** One workflow of an app, in this process or from a client: creates its instances and finds them again. */
export interface WorkflowHandle<Params = any, Output = any, Events = any> {
  readonly name: string;
  /**
   * Creates an instance. Once this resolves it is durable and will run, here or elsewhere. With `{ tx }`, a transaction of
   * your own on the store's database, it is there once that commits, and never if it does not.
   */
  create(...args: CreateArguments<Params>): Promise<InstanceHandle<Output, Events>>;
  /** Creates up to 100 instances at once; ids that exist or repeat are skipped and left out of the answer. */
  createBatch(
    batch: readonly CreateOptions<Params>[],
    within?: WithinOptions,
  ): Promise<InstanceHandle<Output, Events>[]>;
  /** An instance that exists; INSTANCE_NOT_FOUND if there is none. */
  get(id: string): Promise<InstanceHandle<Output, Events>>;
  /** The instance with this id, whether it exists or not: nothing is asked, later calls will say so. */
  at(id: string): InstanceHandle<Output, Events>;
  list(options?: ListOptions): Promise<PageView<InstanceView<Output>>>;
  /**
   * Restarts the instance if it exists and fits the condition, creates it if there is none, else leaves it alone. A repeat
   * with the same `idempotencyKey` does not restart it once more; one of a call that created it restarts it.
   */
  restartOrCreate(options: RestartOrCreateOptions<Params>): Promise<{
    readonly outcome: RestartedOrCreated;
    readonly instance: InstanceHandle<Output, Events>;
  }>;
}
