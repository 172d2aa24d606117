import { EverstepError } from "../model/error.ts";
import type {
  WireCreated,
  WireInstance,
  WireInstances,
  WireInstancesWithMeta,
  WireRestartOrCreate,
  WireWorkflow,
} from "../wire/index.ts";
import { checkInstanceId } from "./address.ts";
import type {
  BatchEntry,
  CallOptions,
  CreateArguments,
  CreateOptions,
  ListOptions,
  RestartOrCreateOptions,
  WatchListOptions,
} from "./call-options.ts";
import type { Connection } from "./connection.ts";
import { readData, streamOf } from "./event-stream.ts";
import { createInstanceClient, type InstanceClient } from "./instance-client.ts";
import { creating } from "./own-creation.ts";
import { idempotencyKeyOf } from "./request-headers.ts";

/** One workflow of the server: creates its instances and finds them again. */
export interface WorkflowClient<Params = unknown, Output = unknown> {
  readonly name: string;
  details(options?: CallOptions): Promise<WireWorkflow>;
  list(options: ListOptions & { readonly meta: true }): Promise<WireInstancesWithMeta>;
  list(options?: ListOptions): Promise<WireInstances>;
  /**
   * Creates an instance. Once this resolves it is durable and will run. After a try that got no answer: an id that was
   * left out is known to be this call's own; with an id of yours that exists then, INSTANCE_ID_ALREADY_EXISTS is thrown
   * with `details.perhapsOwn`, because nobody can tell who created it. `ifExists: "return"` is for those to whom it is all
   * the same.
   */
  create(...args: CreateArguments<Params>): Promise<InstanceClient<Output>>;
  /**
   * Creates up to 100 instances at once. When this resolves all of them exist; the answer has those that were created by
   * it, and leaves out ids that existed. After a try that got no answer those may be ones that it created itself.
   */
  createBatch(batch: readonly BatchEntry<Params>[], options?: CallOptions): Promise<InstanceClient<Output>[]>;
  /** By its id, without asking the server whether there is such an instance. */
  get(id: string): InstanceClient<Output>;
  /**
   * Restarts the instance if it exists and fits `when`, creates it if there is none, else leaves it alone. Not tried again
   * after a try that got no answer: if that one created the instance, the next would restart it.
   */
  restartOrCreate(id: string, options?: RestartOrCreateOptions<Params>): Promise<WireRestartOrCreate>;
  /** The first page of the list, now and whenever it changed. */
  watch(options?: WatchListOptions): AsyncIterable<WireInstancesWithMeta>;
}

export function createWorkflowClient<Params, Output>(
  connection: Connection,
  name: string,
): WorkflowClient<Params, Output> {
  const path = (...more: string[]): string[] => ["workflows", name, ...more];
  const { runtime } = connection;
  const get = (id: string): InstanceClient<Output> =>
    createInstanceClient(connection, { workflowName: name, instanceId: checkInstanceId(id) });

  return {
    name,
    details: ({ signal } = {}) => connection.send({ segments: path(), field: "name", signal }),
    list: ({ signal, meta, ...query }: ListOptions = {}) =>
      connection.send<WireInstancesWithMeta>({
        segments: path("instances"),
        query: { ...query, include: meta ? "meta" : undefined },
        field: "instances[]",
        signal,
      }),
    async create(...[options = {}]: [options?: CreateOptions<Params>]) {
      const { signal, ...creation } = options;
      const instance = get(creation.id ?? runtime.uuid());
      const send = (onUncertain: () => void): Promise<WireInstance> =>
        connection.send({
          segments: path("instances"),
          body: { ...creation, id: instance.id },
          field: "id",
          signal,
          onUncertain,
          about: { workflowName: name, instanceId: instance.id },
        });
      await creating(creation.id === undefined, send);
      return instance;
    },
    async createBatch(batch, { signal } = {}) {
      if (!Array.isArray(batch)) {
        throw new EverstepError("INVALID_ARGUMENT", "createBatch takes an array of { id, params }.");
      }
      const generated = new Set<string>();
      const instances = batch.map((entry) => {
        const id = entry.id === undefined ? runtime.uuid() : checkInstanceId(entry.id);
        if (entry.id === undefined) generated.add(id);
        return { ...entry, id };
      });
      const answer = await connection.send<WireCreated>({
        segments: path("instances", "batch"),
        body: { instances },
        field: "instances[]",
        signal,
      });
      const created = new Set(answer.instances.map(({ id }) => id));
      const ids = new Set(instances.map(({ id }) => id));
      return [...ids].filter((id) => created.has(id) || generated.has(id)).map(get);
    },
    get,
    async restartOrCreate(id, { signal, idempotencyKey, ...body } = {}) {
      return connection.send({
        segments: path("instances", checkInstanceId(id), "restart-or-create"),
        body,
        idempotencyKey: idempotencyKeyOf(idempotencyKey, runtime),
        field: "outcome",
        isOnce: true,
        signal,
      });
    },
    watch: ({ signal, onReconnect, ...query } = {}) =>
      streamOf(
        connection,
        { segments: path("instances"), query, signal, onReconnect },
        readData<WireInstancesWithMeta>("instances"),
      ),
  };
}
