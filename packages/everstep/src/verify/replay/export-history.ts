/** Reads one run into one document, page by page and bounded. */
import { utf8Bytes } from "../../authoring/codec-bytes.ts";
import { hiddenValue, isSensitive } from "../../authoring/sensitive.ts";
import { EverstepError } from "../../model/error.ts";
import type { InstanceRecord } from "../../model/instance.ts";
import type { StepRecord } from "../../model/step.ts";
import type { Page, PageQuery, Store } from "../../store/store.ts";
import {
  type HistoryDocument,
  historyFormat,
  historyVersion,
  type RunFields,
  runFields,
} from "./history-document.ts";
import { type Redact, Redactor } from "./redact.ts";

export interface ExportHistoryOptions {
  /** The current run unless another is named. */
  readonly runNumber?: number;
  /** Replaces values before they leave: params, output, results, errors, event payloads, log lines. */
  readonly redact?: Redact;
  /** Log lines too; default true. They play no part in a replay. */
  readonly logs?: boolean;
  /** PAYLOAD_TOO_LARGE when the document would take more bytes of JSON; default 16 MiB. */
  readonly maxBytes?: number;
}

export interface ExportParts {
  readonly reads: Pick<Store, "listSteps" | "listEvents" | "listLogs">;
  readonly now: number;
  /** Whether the result of a step that is marked `sensitive` leaves with the rest. */
  readonly mayShow: (step: StepRecord) => boolean;
  /** The run as it is now. */
  readonly look: () => Promise<InstanceRecord>;
}

const bytesMaxDefault = 16 * 1024 * 1024;
const pageSize = 100;
/** How often a run that goes on while it is read is read. */
const looksMax = 3;

export async function exportHistory(
  parts: ExportParts,
  options: ExportHistoryOptions,
): Promise<HistoryDocument> {
  const { maxBytes = bytesMaxDefault } = options;
  if (!(typeof maxBytes === "number" && maxBytes > 0)) {
    throw new EverstepError(
      "INVALID_ARGUMENT",
      `maxBytes is ${String(maxBytes)}; it must be a number above 0.`,
    );
  }
  let record = await parts.look();
  for (let look = 1; ; look++) {
    const document = await readDocument(record, parts, options, new Size(maxBytes));
    const now = await parts.look();
    // Records of one run only ever grow, so the last look is good even if the run did not stand still.
    if (isUnchanged(record, now) || look === looksMax) return document;
    record = now;
  }
}

async function readDocument(
  record: InstanceRecord,
  { reads, now, mayShow }: ExportParts,
  { redact, logs = true }: ExportHistoryOptions,
  size: Size,
): Promise<HistoryDocument> {
  const redactor = redact ? new Redactor(redact) : null;
  const { runId } = record;
  const instance = redactor ? redactor.instance(record) : record;
  const all = <Item>(
    read: (query: PageQuery) => Promise<Page<Item>>,
    redacted: ((item: Item) => Item) | undefined,
  ): Promise<readonly Item[]> => readAll(read, redacted ?? ((item) => item), size);
  let isHidden = false;
  const shown = (step: StepRecord): StepRecord => {
    if (step.status !== "completed" || !isSensitive(step.result) || mayShow(step)) return step;
    isHidden = true;
    return { ...step, result: hiddenValue };
  };
  const outgoing = (step: StepRecord): StepRecord => (redactor ? redactor.step(shown(step)) : shown(step));
  const steps = await all((query) => reads.listSteps(runId, query), outgoing);
  const redacted = redact !== undefined || isHidden;
  const head = headOf(instance, redacted, now);
  size.add(head);
  return {
    ...head,
    steps,
    events: await all((query) => reads.listEvents(runId, query), redactor?.event.bind(redactor)),
    ...(logs && { logs: await all((query) => reads.listLogs(runId, query), redactor?.log.bind(redactor)) }),
  };
}

function headOf(
  record: InstanceRecord,
  redacted: boolean,
  exportedAt: number,
): Omit<HistoryDocument, "steps" | "events" | "logs"> {
  const run = Object.fromEntries(runFields.map((name) => [name, record[name]])) as RunFields;
  return { format: historyFormat, version: historyVersion, redacted, exportedAt, ...run };
}

async function readAll<Item>(
  read: (query: PageQuery) => Promise<Page<Item>>,
  redacted: (item: Item) => Item,
  size: Size,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  let after: string | undefined;
  do {
    const page: Page<Item> = await read({
      limit: pageSize,
      order: "asc",
      ...(after === undefined ? {} : { after }),
    });
    for (const item of page.items) {
      const leaving = redacted(item);
      size.add(leaving);
      items.push(leaving);
    }
    after = page.after;
  } while (after !== undefined);
  return items;
}

/** Bytes of JSON so far. */
class Size {
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(part: unknown): void {
    this.#bytes += utf8Bytes(JSON.stringify(part));
    if (this.#bytes <= this.#maxBytes) return;
    throw new EverstepError(
      "PAYLOAD_TOO_LARGE",
      `This history takes more than ${this.#maxBytes} bytes. Raise maxBytes, leave log lines out with logs: false, ` +
        "or replace large values with redact.",
      { details: { maxBytes: this.#maxBytes } },
    );
  }
}

function isUnchanged(before: InstanceRecord, after: InstanceRecord): boolean {
  return (
    before.status === after.status && before.token === after.token && before.updatedAt === after.updatedAt
  );
}
