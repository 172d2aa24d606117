/** Everything the store can do over one open connection, its statements prepared. */
import { type Beats, beats } from "./beats.ts";
import { type ClaimRuns, claims } from "./claim.ts";
import type { Connection } from "./connection.ts";
import { dueList, type ListDue } from "./due-list.ts";
import { histories, type ReadRuns } from "./histories.ts";
import { instanceList, type ListInstances } from "./instance-list.ts";
import { type Instances, instances } from "./instances.ts";
import { type Leases, leases } from "./leases.ts";
import { type Removal, removal } from "./prune.ts";
import { type RunLists, runLists } from "./run-lists.ts";
import { type ListTopics, topicList } from "./topic-list.ts";
import { type Write, writes } from "./write.ts";

export interface Verbs {
  readonly write: Write;
  readonly claim: ClaimRuns;
  readonly leases: Leases;
  readonly readRuns: ReadRuns;
  readonly instances: Instances;
  readonly listInstances: ListInstances;
  readonly lists: RunLists;
  readonly listTopics: ListTopics;
  readonly listDue: ListDue;
  readonly removal: Removal;
  readonly beats: Beats;
  /** Another one after every commit of another connection; reading it touches shared memory only. */
  readonly changeMark: () => number;
}

export function verbsOf(connection: Connection): Verbs {
  const dataVersion = connection.db.prepareTuples("PRAGMA data_version");
  return {
    write: writes(connection),
    claim: claims(connection),
    leases: leases(connection),
    readRuns: histories(connection),
    instances: instances(connection),
    listInstances: instanceList(connection),
    lists: runLists(connection),
    listTopics: topicList(connection),
    listDue: dueList(connection),
    removal: removal(connection),
    beats: beats(connection),
    changeMark: () => dataVersion.get()?.[0] as number,
  };
}
