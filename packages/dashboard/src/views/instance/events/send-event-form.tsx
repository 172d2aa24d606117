/** Sends an event, of a type the instance waits for or of any other. */
import { Send } from "lucide-react";
import { useEffect, useId, useRef, useState } from "react";
import { JsonField, readJson } from "../../../parts/json-field.tsx";
import { ProblemNotice } from "../../../parts/notice.tsx";
import { Panel } from "../../../parts/panel.tsx";
import { useQuery } from "../../../use-query.ts";
import { useManage } from "../actions/use-manage.ts";
import { awaitedTypes } from "../head/waits.ts";
import type { Live } from "../live.ts";

export function SendEventForm({ live, onSent }: { readonly live: Live; readonly onSent: () => void }) {
  const id = useId();
  const query = useQuery();
  const awaited = awaitedTypes(live.value.steps);
  const asked = query.get("type");
  const [type, setType] = useState(asked ?? awaited[0] ?? "");
  const [text, setText] = useState("");
  const [key, setKey] = useState("");
  const manage = useManage();
  const form = useRef<HTMLFormElement>(null);
  // Who comes by "Send this event" goes on writing here.
  useEffect(() => {
    if (asked === null) return;
    setType(asked);
    form.current?.querySelector("textarea")?.focus();
  }, [asked]);

  const payload = readJson(text);
  const send = async (): Promise<void> => {
    if (!payload.ok) return;
    const content = {
      type,
      payload: payload.value,
      ...(key.trim() === "" ? {} : { idempotencyKey: key.trim() }),
    };
    if (!(await manage.run("send", `Sent "${type}".`, () => live.instance.sendEvent(content)))) return;
    onSent();
    setText("");
    setKey("");
  };
  return (
    <Panel title="Send event">
      <form
        ref={form}
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        {awaited.length > 0 && (
          <fieldset className="choices">
            <legend>It waits for</legend>
            {awaited.map((each) => (
              <label key={each}>
                <input
                  type="radio"
                  name={`${id}-awaited`}
                  checked={type === each}
                  onChange={() => setType(each)}
                />
                <code>{each}</code>
              </label>
            ))}
          </fieldset>
        )}
        <div className="field">
          <label htmlFor={`${id}-type`}>Type</label>
          <input
            id={`${id}-type`}
            className="mono"
            required
            value={type}
            autoComplete="off"
            spellCheck={false}
            aria-describedby={`${id}-type-hint`}
            onChange={(event) => setType(event.target.value)}
          />
          <div id={`${id}-type-hint`} className="hint">
            {type === "" || awaited.includes(type)
              ? "The type that a step waits for."
              : "No step waits for this type now. The event is kept until one does."}
          </div>
        </div>
        <JsonField
          label="Payload (JSON)"
          hint="Leave it empty to send none."
          rows={5}
          text={text}
          onText={setText}
        />
        <div className="field">
          <label htmlFor={`${id}-key`}>Idempotency key (optional)</label>
          <input
            id={`${id}-key`}
            className="mono"
            value={key}
            autoComplete="off"
            spellCheck={false}
            aria-describedby={`${id}-key-hint`}
            onChange={(event) => setKey(event.target.value)}
          />
          <div id={`${id}-key-hint`} className="hint">
            Sending it again with the same key has no further effect.
          </div>
        </div>
        <div className="buttons">
          <button type="submit" className="main-button" disabled={manage.busy !== null || !payload.ok}>
            <Send aria-hidden />
            {manage.busy === null ? "Send" : "Sending …"}
          </button>
        </div>
        {manage.problem && <ProblemNotice problem={manage.problem} />}
      </form>
    </Panel>
  );
}
