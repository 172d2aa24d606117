import { Activity, KeyRound, LogOut } from "lucide-react";
import { lazy, type ReactNode, Suspense, useEffect, useRef } from "react";
import { Link, Redirect, Route, Router, Switch, useLocation } from "wouter";
import { basePath } from "./api/places.ts";
import { SessionProvider, useSession, useSessionState } from "./api/session.tsx";
import { links } from "./links.ts";
import { Mishap } from "./parts/mishap.tsx";
import { Empty } from "./parts/notice.tsx";
import { Bones } from "./parts/skeleton.tsx";
import { DeadLettersView } from "./views/dead-letters/dead-letters-view.tsx";
import { InstancesView } from "./views/instances/instances-view.tsx";
import { OverviewView } from "./views/overview/overview-view.tsx";
import { ClosedView, SignInView } from "./views/sign-in-view.tsx";
import { TopicsView } from "./views/topics/topics-view.tsx";
import { WorkflowView } from "./views/workflows/workflow-view.tsx";
import { WorkflowsView } from "./views/workflows/workflows-view.tsx";
import { zone } from "./words/time.ts";

const InstanceView = lazy(() => import("./views/instance/instance-view.tsx"));

export function App() {
  const state = useSessionState();
  return (
    <Router base={basePath}>
      {state.kind === "open" ? (
        <SessionProvider session={state.session}>
          <Shell>
            <Guarded />
          </Shell>
        </SessionProvider>
      ) : (
        <main className="main" id="main">
          {state.kind === "opening" && <Bones rows={6} />}
          {state.kind === "signIn" && <SignInView problem={state.problem} signIn={state.signIn} />}
          {state.kind === "closed" && <ClosedView {...state} />}
        </main>
      )}
    </Router>
  );
}

/** Another address is another try. */
function Guarded() {
  const [path] = useLocation();
  return (
    <Mishap key={path}>
      <Views />
    </Mishap>
  );
}

function Views() {
  return (
    <Suspense fallback={<Bones rows={6} />}>
      <Switch>
        <Route path="/">
          <OverviewView />
        </Route>
        <Route path="/workflows">
          <WorkflowsView />
        </Route>
        <Route path="/workflows/:workflowName">
          {({ workflowName }) => <WorkflowView key={workflowName} workflowName={workflowName} />}
        </Route>
        <Route path="/instances">
          <InstancesView />
        </Route>
        <Route path="/instances/:workflowName/:instanceId">
          {({ workflowName, instanceId }) => (
            <InstanceView
              key={`${workflowName}/${instanceId}`}
              workflowName={workflowName}
              instanceId={instanceId}
            />
          )}
        </Route>
        <Route path="/topics">
          <TopicsView />
        </Route>
        <Route path="/dead-letters">
          <DeadLettersView />
        </Route>
        <Route path="/index.html">
          <Redirect to="/" replace />
        </Route>
        <Route>
          <Empty title="There is nothing at this address.">
            <Link href={links.overview}>Back to the overview</Link>
          </Empty>
        </Route>
      </Switch>
    </Suspense>
  );
}

const places: readonly (readonly [string, string])[] = [
  ["Overview", links.overview],
  ["Workflows", links.workflows],
  ["Instances", links.instances()],
  ["Topics", links.topics()],
  ["Dead letters", links.deadLetters()],
];

function Shell({ children }: { readonly children: ReactNode }) {
  const { access, hasToken, signOut } = useSession();
  const [path] = useLocation();
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  const root = path.split("/")[1] ?? "";
  // Who uses a keyboard or a screen reader goes on in the new view, not in the bar above it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: with every other path
  useEffect(() => {
    if (!isFirst.current) {
      window.scrollTo(0, 0);
      main.current?.focus({ preventScroll: true });
    }
    isFirst.current = false;
  }, [path]);
  const mayAct = access.management || access.instanceCreation || access.sendEvent;
  return (
    <div className="shell">
      <button type="button" className="skip-link" onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <header className="bar">
        <Link href={links.overview} className="brand">
          <Activity aria-hidden />
          everstep
        </Link>
        <nav className="nav" aria-label="Views">
          {places.map(([name, href]) => (
            <Link key={name} href={href} aria-current={href === `/${root}` ? "page" : undefined}>
              {name}
            </Link>
          ))}
        </nav>
        <div className="bar-end">
          {!mayAct && (
            <span className="status is-terminated" title="You may look, but not change anything.">
              <KeyRound aria-hidden />
              read-only
            </span>
          )}
          <span className="zone" title="Times are shown in this time zone.">
            {zone}
          </span>
          {hasToken && (
            <button type="button" className="quiet tiny" onClick={signOut}>
              <LogOut aria-hidden />
              Sign out
            </button>
          )}
        </div>
      </header>
      <main className="main" id="main" ref={main} tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}
