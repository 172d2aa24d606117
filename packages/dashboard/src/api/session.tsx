/** Who is looking, what they may do, and the client that asks in their name. */
import { type Client, createClient, type WireAccess } from "everstep/client";
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from "react";
import { apiUrl } from "./places.ts";
import { isAbort, type Problem, problemOf } from "./problem.ts";
import { hearTime } from "./server-clock.ts";
import { keepToken, readToken, takeOffered } from "./token.ts";

export interface Session {
  readonly client: Client;
  readonly hasToken: boolean;
  /** What this person may do beside looking. */
  readonly access: WireAccess;
  /** Told of every problem, so that a token that is refused leads back to signing in. */
  refused(problem: Problem): void;
  signOut(): void;
}

export type SessionState =
  | { readonly kind: "opening" }
  /** Nothing may be seen without a token that is accepted. */
  | { readonly kind: "signIn"; readonly problem: Problem | null; signIn(token: string): void }
  | { readonly kind: "closed"; readonly problem: Problem; again(): void; signOut: (() => void) | null }
  | { readonly kind: "open"; readonly session: Session };

const Current = createContext<Session | null>(null);

export function useSession(): Session {
  const session = useContext(Current);
  if (!session) throw new Error("There is no session here.");
  return session;
}

export function SessionProvider({
  session,
  children,
}: {
  readonly session: Session;
  readonly children: ReactNode;
}) {
  return <Current value={session}>{children}</Current>;
}

function show(address: string): void {
  history.replaceState(history.state, "", address);
}

export function useSessionState(): SessionState {
  const [token, setToken] = useState(() => readToken(show));
  const [access, setAccess] = useState<WireAccess | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [round, setRound] = useState(0);
  const client = useMemo(
    () =>
      createClient({
        url: apiUrl,
        ...(token === null ? {} : { headers: { authorization: `Bearer ${token}` } }),
      }),
    [token],
  );

  const use = useCallback((next: string | null) => {
    keepToken(next);
    setToken(next);
    setAccess(null);
    setProblem(null);
    setRound((last) => last + 1);
  }, []);
  /** A token that is refused gives way to one that a link has brought meanwhile. */
  const fail = useCallback(
    (told: Problem) => {
      const next = told.code === "UNAUTHORIZED" ? takeOffered() : null;
      if (next !== null) use(next);
      else setProblem(told);
    },
    [use],
  );

  // biome-ignore lint/correctness/useExhaustiveDependencies: `round` asks again
  useEffect(() => {
    const leaving = new AbortController();
    const askedAt = Date.now();
    client
      .access({ signal: leaving.signal })
      .then((answer) => {
        hearTime(answer.now, askedAt);
        setAccess(answer);
        setProblem(null);
      })
      .catch((thrown: unknown) => {
        if (!isAbort(thrown) && !leaving.signal.aborted) fail(problemOf(thrown));
      });
    return () => leaving.abort();
  }, [client, round, fail]);

  const refused = useCallback(
    (told: Problem) => {
      if (told.code !== "UNAUTHORIZED") return;
      setAccess(null);
      fail(told);
    },
    [fail],
  );
  const signOut = useCallback(() => use(null), [use]);

  const session = useMemo(
    () => (access === null ? null : { client, access, refused, signOut, hasToken: token !== null }),
    [client, access, refused, signOut, token],
  );
  if (problem?.code === "UNAUTHORIZED") {
    // Who has sent nothing yet is asked, not blamed.
    return { kind: "signIn", problem: token === null ? null : problem, signIn: use };
  }
  if (problem) {
    const again = (): void => {
      setProblem(null);
      setRound((last) => last + 1);
    };
    return { kind: "closed", problem, again, signOut: token === null ? null : signOut };
  }
  return session === null ? { kind: "opening" } : { kind: "open", session };
}
