import { useState } from "react";
import type { Problem } from "../api/problem.ts";
import { Notice, ProblemNotice } from "../parts/notice.tsx";

export function SignInView({
  problem,
  signIn,
}: {
  readonly problem: Problem | null;
  readonly signIn: (token: string) => void;
}) {
  const [token, setToken] = useState("");
  return (
    <form
      className="sign-in panel"
      onSubmit={(event) => {
        event.preventDefault();
        if (token.trim() !== "") signIn(token.trim());
      }}
    >
      <header>
        <h1>Sign in to everstep</h1>
      </header>
      <div className="inside stack">
        {problem && (
          <Notice tone="bad">
            This token was not accepted. <code className="small">{problem.code}</code>
            <br />
            <code>everstep dev</code> makes a new token at each start: open the address that it printed last.
          </Notice>
        )}
        <div className="field">
          <label htmlFor="token">Token</label>
          <input
            id="token"
            type="password"
            autoComplete="current-password"
            // biome-ignore lint/a11y/noAutofocus: there is nothing else on this page
            autoFocus
            value={token}
            onChange={(event) => setToken(event.target.value)}
          />
          <div className="hint">
            With <code>everstep dev</code>, open the address that it printed when it started. Else one of
            those that were given to <code>bearerToken(...)</code> where the app is made. It is kept in this
            tab only, and forgotten when you close it.
          </div>
        </div>
        <div className="buttons">
          <button type="submit" className="main-button" disabled={token.trim() === ""}>
            Sign in
          </button>
        </div>
      </div>
    </form>
  );
}

/** The service answers, but not with what was asked for; or it does not answer at all. */
export function ClosedView({
  problem,
  again,
  signOut,
}: {
  readonly problem: Problem;
  readonly again: () => void;
  readonly signOut: (() => void) | null;
}) {
  return (
    <div className="sign-in stack">
      <h1>{titles[problem.code] ?? "The service does not answer as it should"}</h1>
      <ProblemNotice problem={problem} again={again} />
      {signOut && (
        <div>
          <button type="button" onClick={signOut}>
            Use another token
          </button>
        </div>
      )}
    </div>
  );
}

const titles: Readonly<Record<string, string>> = {
  AUTHORIZATION_NOT_CONFIGURED: "Nobody may look yet",
  FORBIDDEN: "You may not look at this",
  CONNECTION_FAILED: "The service cannot be reached",
};
