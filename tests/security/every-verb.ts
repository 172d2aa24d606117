/** Everything that can be asked of a store, with a text of the test's choice in every place where a text may stand. */
import type { Store, StoreOutcome } from "everstep/store";
import { erased } from "../../packages/everstep/src/testing/store-contract/acts.ts";
import * as given from "../regressions/given.ts";

export async function everyVerb(store: Store, text: string): Promise<readonly StoreOutcome[]> {
  const { at } = given;
  const ref = { workflowName: text, instanceId: text };
  const workflows = [{ name: text, concurrency: null }];
  const payload = given.value({ [text]: text });
  const told: StoreOutcome[] = [];
  const write: Store["write"] = async (requests, now) => {
    const outcomes = await store.write(requests, now);
    told.push(...outcomes);
    return outcomes;
  };
  const ofText = <Request extends object>(request: Request): Request & typeof ref => ({ ...request, ...ref });

  await store.migrate();
  await write(
    [given.create(text, { ...ref, params: payload, parent: ref }), given.create(`${text}2`, ref)],
    at(0),
  );
  const [claim] = await store.claim(given.claimRequest({ owner: text, workflows, now: at(0) }));
  if (!claim) throw new Error("The run that was created is not to be had.");
  const { lease } = claim;
  const identity = { key: text, name: text };
  const steps = [
    given.completed(0, { ...identity, result: payload }),
    given.awaiting(1, text, given.never, { key: `${text}1`, name: text }),
    { ...given.awaitingTopic(2, text, given.never), key: `${text}2`, name: text },
  ];
  const logs = [given.logLine(text, { category: text, stepKey: text, data: payload })];
  const begun = [given.begun(text)];
  await write([given.commit(lease, given.boundary(1, { steps, logs, begun }))], at(1));
  await store.renew([{ lease, begun }], at(given.leaseMs), at(1));
  await write(
    [ofText(given.sendEvent(text, text, text, { payload })), given.publish(`p${text}`, text, { payload })],
    at(2),
  );
  const errors = given.errored(3, {
    ...identity,
    key: `${text}3`,
    error: { name: text, message: text, stack: text },
  });
  await write(
    [given.commit(lease, given.boundary(2, { steps: [errors], next: given.suspendUntil(at(9)) }))],
    at(3),
  );
  for (const make of [given.pause, given.resume, given.restart, given.terminate])
    await write([{ ...ofText(make(text)), id: `${make.name} ${text}` }], at(4));
  await write([{ kind: "abandon", owner: text, fate: { kind: "error", error: given.failure(text) } }], at(5));
  await store.release([lease], at(5));

  const { runId } = lease;
  const page = { limit: 10 };
  await store.readRuns([{ runId, steps: true, eventsAfter: 0 }]);
  await store.getInstance(ref);
  await store.getInstance(ref, 1);
  await store.getInstances([ref, ref]);
  await store.getStatuses([ref]);
  await store.listInstances({
    ...page,
    workflowName: text,
    statuses: ["terminated", "active"],
    deadLetter: false,
  });
  await store.listInstances({ ...page, order: "asc" });
  await store.listInstances({ ...page, idPrefix: text, createdFrom: at(0), createdBefore: at(9) });
  await store.listRuns(ref, 10);
  await store.listSteps(runId, page);
  await store.listEvents(runId, page);
  await store.listLogs(runId, { ...page, category: text, level: "info" });
  await store.listWaiters(text, page);
  await store.listTopics(page);
  await store.listTopics({ ...page, after: `topic:${text}`, order: "desc" });
  await store.countByStatus(text);
  await store.nextDueAt([text]);
  await store.listDue({ before: at(9), limit: 10 });
  await store.prune({ before: at(9), limit: 10, publicationsBefore: at(9) });
  await erased(store, ref);
  return told;
}
