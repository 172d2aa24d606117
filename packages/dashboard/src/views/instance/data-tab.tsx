/** What went in and what came out. */
import type { WireError } from "everstep/client";
import { CopyButton } from "../../parts/copy.tsx";
import { JsonTree } from "../../parts/json-tree.tsx";
import { Panel } from "../../parts/panel.tsx";
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
              {details.status === "terminated"
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
  const stack = error.stack?.startsWith(head)
    ? error.stack.slice(head.length).replace(/^\n/, "")
    : error.stack;
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
      {stack && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
        <section className="stack-text" tabIndex={0} aria-label="Stack">
          <pre className="mono">{stack}</pre>
        </section>
      )}
    </div>
  );
}
