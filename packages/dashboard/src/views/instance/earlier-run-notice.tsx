import { Link } from "wouter";
import { Notice } from "../../parts/notice.tsx";
import { useQuery } from "../../use-query.ts";

/** What is shown is not of the current run. */
export function EarlierRunNotice({ run, current }: { readonly run: number; readonly current: number }) {
  const query = useQuery();
  return (
    <Notice action={<Link href={query.href({ run: null, with: null, step: null })}>Show run {current}</Link>}>
      This is run {run}. The current one is run {current}.
    </Notice>
  );
}
