/** Its start is still to come: when, and the way to begin now. */
import { CalendarClock, Play } from "lucide-react";
import { ProblemNotice } from "../../../parts/notice.tsx";
import { When } from "../../../parts/when.tsx";
import { useManage } from "../actions/use-manage.ts";
import type { Live } from "../live.ts";

export function Scheduled({ live }: { readonly live: Live }) {
  const { instance, access, value } = live;
  const manage = useManage();
  // Whoever resumes an instance wants it to go on, whatever was planned.
  const start = async (): Promise<void> => {
    await instance.pause();
    await instance.resume();
  };
  return (
    <div className="stack close">
      <div className="lead-strip">
        <CalendarClock aria-hidden />
        <p>
          Scheduled, starts <When at={value.meta.dueAt} />
        </p>
        {access.management && (
          <button
            type="button"
            className="tiny"
            disabled={manage.busy !== null || live.isStale}
            onClick={() => void manage.run("start", "Started.", start)}
          >
            <Play aria-hidden />
            {manage.busy === null ? "Start now" : "Starting …"}
          </button>
        )}
      </div>
      {manage.problem && <ProblemNotice problem={manage.problem} />}
    </div>
  );
}
