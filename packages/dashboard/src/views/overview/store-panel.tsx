import type { WireOverview } from "everstep/client";
import { Check, Minus } from "lucide-react";
import { Notice } from "../../parts/notice.tsx";
import { Panel } from "../../parts/panel.tsx";

const titles: Readonly<Record<string, string>> = {
  sqlite: "SQLite",
  postgres: "PostgreSQL",
  mysql: "MySQL / MariaDB",
  redis: "Redis",
  memory: "Memory",
};

/** What each guarantee means to somebody who relies on it. */
const meanings: Readonly<Record<string, string>> = {
  durable: "survives the end of the process",
  shared: "several processes may share it",
  mutations: "your own writes in the step's transaction",
  transactions: "create and send events in your own transaction",
  nudges: "other processes are told at once",
  ownership: "a dead process is noticed at once",
};

/** How a guarantee that is not given is called. */
const lacks: Readonly<Record<string, string>> = {
  nudges: "No push notifications",
  mutations: "No writes of your own in steps",
  transactions: "No transactions of your own",
  ownership: "No detection of dead processes",
};

export function StorePanel({ overview: { store, version } }: { readonly overview: WireOverview }) {
  return (
    <Panel title="Store and guarantees" end={<span className="small dim">everstep {version}</span>}>
      <div className="stack">
        {store.warnings.map(({ code, message }) => (
          <Notice key={code} tone="warn">
            {message} <code className="small">{code}</code>
          </Notice>
        ))}
        <p>
          <strong>{titles[store.name] ?? store.name}</strong>
        </p>
        <ul className="guarantees">
          {store.guarantees.map(({ name, has, why }) => (
            <li key={name} className={has ? "has" : "dim"} title={why}>
              {has ? <Check aria-hidden /> : <Minus aria-hidden />}
              <span>
                <strong>{has ? capital(name) : (lacks[name] ?? `Not ${name}`)}</strong>{" "}
                <span className="small dim">{has ? meanings[name] : why}</span>
              </span>
            </li>
          ))}
        </ul>
      </div>
    </Panel>
  );
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
