/** What went in and what came out. */
import type { WireError } from "everstep/client";
import { CopyButton } from "../../parts/copy.tsx";
import { JsonTree } from "../../parts/json-tree.tsx";
import { Panel } from "../../parts/panel.tsx";
import { isEnded } from "../../words/statuses.ts";
import { StackText } from "./head/stack-text.tsx";
import type { Live } from "./live.ts";

export function DataTab({ live }: { readonly live: Live }) {
  const { meta, details } = live.value;
  return (
    <div className="data-columns">
      <Panel title="Params">
        <JsonTree value={meta.params} what="the params" />
      </Panel>
      {details.status === "errored" && details.error ? (
        <Panel title="Error">
          <ErrorText error={details.error} />
        </Panel>
      ) : (
        <Panel title="Output">
          {details.status === "complete" ? (
            <JsonTree value={details.output} what="the output" />
          ) : (
            <p className="dim">
              {isEnded(details.status)
                ? "It was terminated, so there is none."
                : "There is none yet: the instance has not ended."}
            </p>
          )}
        </Panel>
      )}
    </div>
  );
}

export function ErrorText({ error }: { readonly error: WireError }) {
  const head = `${error.name}: ${error.message}`;
  return (
    <div className="stack close">
      <div className="error-text">
        <pre className="mono">{head}</pre>
        <CopyButton text={error.stack ?? head} what="the error" />
      </div>
      {error.code && (
        <p className="small dim">
          Code <code>{error.code}</code>
        </p>
      )}
      {error.stack && <StackText stack={error.stack} isOpen />}
    </div>
  );
}
