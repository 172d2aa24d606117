/** The instance among those that started it and those that it started, as a tree. */
import type { WireInstanceWithMeta, WireRef } from "everstep/client";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { useSession } from "../../../api/session.tsx";
import { useLoaded } from "../../../api/use-loaded.ts";
import { links } from "../../../links.ts";
import { ProblemNotice } from "../../../parts/notice.tsx";
import { Panel } from "../../../parts/panel.tsx";
import { Bones } from "../../../parts/skeleton.tsx";
import { Status } from "../../../parts/status.tsx";
import { When } from "../../../parts/when.tsx";
import type { Live } from "../live.ts";
import { type Family, findFamily } from "./family.ts";

export function FamilyTab({ live }: { readonly live: Live }) {
  const { client } = useSession();
  const { address, value } = live;
  const settled = value.steps.filter(({ settledAt }) => settledAt !== null).length;
  const loaded = useLoaded({
    name: `family ${links.instance(address)} ${value.meta.runNumber} ${settled}`,
    load: (signal) => findFamily(client, address, value, signal),
  });
  return (
    <Panel title="Parents and children">
      {loaded.problem && <ProblemNotice problem={loaded.problem} again={loaded.reload} />}
      {!loaded.value && !loaded.problem && <Bones rows={3} height={28} />}
      {loaded.value && <Tree family={loaded.value} live={live} />}
    </Panel>
  );
}

function Tree({
  family: { ancestors, children, isMore },
  live,
}: {
  readonly family: Family;
  readonly live: Live;
}) {
  const { value } = live;
  const own = (
    <Branch relative={value} isThis>
      {children.length > 0 && (
        <ul className="family">
          {children.map((child) => (
            <Branch key={links.instance(addressOf(child))} relative={child} />
          ))}
        </ul>
      )}
    </Branch>
  );
  const tree = ancestors.reduceRight<ReactNode>(
    (inner, ancestor) => (
      <Branch key={ancestor.id} relative={ancestor}>
        <ul className="family">{inner}</ul>
      </Branch>
    ),
    own,
  );
  return (
    <div className="stack close">
      <ul className="family is-root" aria-label="Parents and children">
        {tree}
      </ul>
      {children.length === 0 && !isMore && <p className="dim">This run has started no other instance.</p>}
      {isMore && (
        <p className="small dim">
          There may be more: only 1,000 instances were looked at that were created while steps ran.
        </p>
      )}
    </div>
  );
}

function Branch({
  relative,
  isThis = false,
  children,
}: {
  readonly relative: WireInstanceWithMeta;
  readonly isThis?: boolean;
  readonly children?: ReactNode;
}) {
  const { id, details, meta } = relative;
  return (
    <li>
      <span className="relative-line">
        <Status status={details.status} />
        {isThis ? (
          <strong className="mono" aria-current="true">
            {id}
          </strong>
        ) : (
          <Link href={links.instance(addressOf(relative))} className="mono">
            {id}
          </Link>
        )}
        <span className="small dim">
          {meta.workflowName}, created <When at={meta.createdAt} />
        </span>
      </span>
      {children}
    </li>
  );
}

function addressOf({ id, meta }: WireInstanceWithMeta): WireRef {
  return { workflowName: meta.workflowName, instanceId: id };
}
