/** Where a list comes from: all workflows, or one. */
import type {
  CallOptions,
  Client,
  ListAllOptions,
  WatchOptions,
  WireInstancesWithMeta,
} from "everstep/client";

export const pageSize = 100;

export interface Source {
  list(terms: CallOptions & { readonly cursor?: string | undefined }): Promise<WireInstancesWithMeta>;
  watch(terms: WatchOptions): AsyncIterable<WireInstancesWithMeta>;
}

export function sourceOf(client: Client, workflowName: string | null, options: ListAllOptions): Source {
  if (workflowName === null) {
    return {
      list: (terms) => client.instances({ ...options, pageSize, ...terms }),
      watch: (terms) => client.watchInstances({ ...options, pageSize, ...terms }),
    };
  }
  // Named when it is asked: a name that no workflow can have is a problem to be shown, not one of this page.
  const workflow = () => client.workflow(workflowName);
  return {
    list: async (terms) => workflow().list({ ...options, pageSize, meta: true, ...terms }),
    watch: (terms) => workflow().watch({ ...options, pageSize, ...terms }),
  };
}
