/** Who is told of what goes on in the process, and what that is like where nobody listens. */
import { cleaned } from "../model/clean-text.ts";
import type { Notice, Observer } from "../model/observer.ts";
import { problemText } from "../model/problem-text.ts";

/**
 * Tells the host of notices, a line each. Names and messages are whoever's: none of them shall forge a line of a log, or
 * steer the terminal that shows it.
 */
export function noticeObserver(listener: (notice: string) => void = reportNotice): Observer {
  const tell = quietly((notice: string) => listener(cleaned(notice)));
  return { onNotice: (notice) => tell(lineOf(notice)) };
}

function lineOf({ workflowName, instanceId, message }: Notice): string {
  return workflowName === null ? message : `${workflowName}/${instanceId}: ${message}`;
}

export function problemListener(
  listener: (problem: unknown) => void = problemReporter(),
): (problem: unknown) => void {
  return quietly(listener);
}

/** Whoever only listens cannot disturb what goes on. */
function quietly<Told>(listener: (told: Told) => void): (told: Told) => void {
  const nobodyIsLeftToTell = (): void => {};
  return (told) => {
    try {
      const heard: unknown = listener(told);
      // Whoever tells others over a network fails when the network does, and must not take the process along.
      if (typeof heard === "object" && heard !== null) Promise.resolve(heard).catch(nobodyIsLeftToTell);
    } catch {
      nobodyIsLeftToTell();
    }
  };
}

function reportNotice(notice: string): void {
  console.warn(`everstep: ${notice}`);
}

/** The same problem again and again, as of a store that is out of reach, is a line each; its first has the rest. */
function problemReporter(): (problem: unknown) => void {
  let last: string | undefined;
  return (problem) => {
    const text = problemText(problem);
    const [said = ""] = text.split("\n");
    console.error(`everstep: ${said === last ? `${said} (again)` : text}`);
    last = said;
  };
}
