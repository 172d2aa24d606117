/** Who is told of what goes on in the process, and what that is like where nobody listens. */
import { cleaned } from "../model/clean-text.ts";
import { problemText } from "../model/problem-text.ts";

/** Names and messages are whoever's: none of them shall forge a line of a log, or steer the terminal that shows it. */
export function noticeListener(listener: (notice: string) => void = reportNotice): (notice: string) => void {
  return quietly((notice) => listener(cleaned(notice)));
}

export function problemListener(
  listener: (problem: unknown) => void = reportProblem,
): (problem: unknown) => void {
  return quietly(listener);
}

/** Whoever only listens cannot disturb what goes on. */
function quietly<Told>(listener: (told: Told) => void): (told: Told) => void {
  return (told) => {
    try {
      listener(told);
    } catch {
      // There is nobody left to tell.
    }
  };
}

function reportNotice(notice: string): void {
  console.warn(`everstep: ${notice}`);
}

function reportProblem(problem: unknown): void {
  console.error(`everstep: ${problemText(problem)}`);
}
