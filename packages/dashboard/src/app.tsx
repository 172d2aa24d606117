import { lazy, Suspense } from "react";
import { Link, Redirect, Route, Router, Switch, useLocation } from "wouter";
import { basePath } from "./api/places.ts";
import { SessionProvider, useSessionState } from "./api/session.tsx";
import { links } from "./links.ts";
import { Mishap } from "./parts/mishap.tsx";
import { Empty } from "./parts/notice.tsx";
import { Bones } from "./parts/skeleton.tsx";
import { Shell } from "./shell/shell.tsx";
import { DeadLettersView } from "./views/dead-letters/dead-letters-view.tsx";
import { InstancesView } from "./views/instances/instances-view.tsx";
import { OverviewView } from "./views/overview/overview-view.tsx";
import { ClosedView, SignInView } from "./views/sign-in-view.tsx";
import { TopicsView } from "./views/topics/topics-view.tsx";
import { WorkflowView } from "./views/workflows/workflow-view.tsx";
import { WorkflowsView } from "./views/workflows/workflows-view.tsx";

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
          <Empty title="There is nothing at this address." isPage>
            <Link href={links.overview}>Back to the overview</Link>
          </Empty>
        </Route>
      </Switch>
    </Suspense>
  );
}
