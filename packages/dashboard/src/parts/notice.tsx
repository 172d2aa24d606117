import { CircleAlert, CircleCheck, Info } from "lucide-react";
import type { ReactNode } from "react";
import type { Problem } from "../api/problem.ts";

export type Tone = "plain" | "good" | "warn" | "bad";

const icons = { plain: Info, good: CircleCheck, warn: CircleAlert, bad: CircleAlert } as const;

export function Notice({
  tone = "plain",
  children,
  action,
}: {
  readonly tone?: Tone;
  readonly children: ReactNode;
  readonly action?: ReactNode;
}) {
  const Icon = icons[tone];
  return (
    <div className={`notice ${tone}`} role={tone === "bad" ? "alert" : "status"}>
      <Icon aria-hidden />
      <div className="text">{children}</div>
      {action}
    </div>
  );
}

/** What happened, and what to do: the server's own words, with their code. */
export function ProblemNotice({
  problem,
  again,
}: {
  readonly problem: Problem;
  readonly again?: (() => void) | undefined;
}) {
  return (
    <Notice
      tone="bad"
      action={
        again && (
          <button type="button" className="tiny" onClick={again}>
            Try again
          </button>
        )
      }
    >
      {problem.message} <code className="small">{problem.code}</code>
    </Notice>
  );
}

export function Empty({
  title,
  children,
  isPage = false,
}: {
  readonly title: string;
  readonly children?: ReactNode;
  /** There is nothing else on the page. */
  readonly isPage?: boolean;
}) {
  const Title = isPage ? "h1" : "strong";
  return (
    <div className="empty">
      <Title>{title}</Title>
      {children}
    </div>
  );
}
