/** What is around every view: the bar with the way to the others, and what is the same everywhere. */
import { Activity, KeyRound, LogOut } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";
import { Link, useLocation } from "wouter";
import { useSession } from "../api/session.tsx";
import { links } from "../links.ts";
import { zone } from "../words/time.ts";
import { FindInstance } from "./find-instance.tsx";
import { KeyHelp } from "./key-help.tsx";
import { ThemeButton } from "./theme-button.tsx";

const places: readonly (readonly [string, string])[] = [
  ["Overview", links.overview],
  ["Workflows", links.workflows],
  ["Instances", links.instances()],
  ["Topics", links.topics()],
  ["Dead letters", links.deadLetters()],
];

export function Shell({ children }: { readonly children: ReactNode }) {
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
        <Link href={links.overview} className="brand" aria-label="everstep">
          <Activity aria-hidden />
          <span>everstep</span>
        </Link>
        <nav className="nav" aria-label="Views">
          {places.map(([name, href]) => (
            <Link key={name} href={href} aria-current={href === `/${root}` ? "page" : undefined}>
              {name}
            </Link>
          ))}
        </nav>
        <FindInstance />
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
          <KeyHelp />
          <ThemeButton />
          {hasToken && (
            <button type="button" className="quiet tiny" onClick={signOut} aria-label="Sign out">
              <LogOut aria-hidden />
              <span className="sign-out">Sign out</span>
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
