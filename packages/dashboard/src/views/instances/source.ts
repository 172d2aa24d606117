/** Where a list comes from: all workflows, or one. */
import type { CallOptions, Client, ListAllOptions, WatchOptions } from "everstep/client";
import type { ListPage } from "./listing.ts";

export const pageSize = 100;

export interface Source {
  list(terms: CallOptions & { readonly cursor?: string | undefined }): Promise<ListPage>;
  watch(terms: WatchOptions): AsyncIterable<ListPage>;
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
    list: async (terms) =>
      (await workflow().list({ ...options, pageSize, meta: true, ...terms })) as ListPage,
    watch: (terms) => workflow().watch({ ...options, pageSize, ...terms }) as AsyncIterable<ListPage>,
  };
}
