import { Send } from "lucide-react";
import { useId, useState } from "react";
import { useSession } from "../../api/session.tsx";
import { useAct } from "../../api/use-act.ts";
import { JsonField, readJson } from "../../parts/json-field.tsx";
import { Notice, ProblemNotice } from "../../parts/notice.tsx";
import { Panel } from "../../parts/panel.tsx";
import { counted } from "../../words/numbers.ts";

export function PublishForm({ topic: given }: { readonly topic: string }) {
  const { client } = useSession();
  const id = useId();
  const [topic, setTopic] = useState(given);
  const [text, setText] = useState("");
  const [reached, setReached] = useState<number | null>(null);
  const payload = readJson(text);
  const publish = useAct(async () => {
    setReached(null);
    if (!payload.ok) return;
    setReached((await client.publish(topic.trim(), payload.value)).waiters);
  });
  return (
    <Panel title="Publish">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void publish.run();
        }}
      >
        <div className="field">
          <label htmlFor={id}>Topic</label>
          <input
            id={id}
            className="mono"
            value={topic}
            spellCheck={false}
            autoCapitalize="off"
            onChange={(event) => setTopic(event.target.value)}
          />
        </div>
        <JsonField label="Payload" hint="Any JSON, or nothing." text={text} onText={setText} rows={4} />
        <div className="buttons">
          <button
            type="submit"
            className="main-button"
            disabled={topic.trim() === "" || !payload.ok || publish.isBusy}
          >
            <Send aria-hidden />
            Publish
          </button>
        </div>
        {publish.problem && <ProblemNotice problem={publish.problem} />}
        {reached !== null && (
          <Notice tone={reached === 0 ? "plain" : "good"}>
            {reached === 0
              ? "No subscribers, so nobody got it."
              : `It reached ${counted(reached, "waiter")}.`}
          </Notice>
        )}
      </form>
    </Panel>
  );
}
