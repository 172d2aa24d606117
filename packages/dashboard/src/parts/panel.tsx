import { type ReactNode, useId } from "react";

export function Panel({
  title,
  end,
  flush = false,
  children,
}: {
  readonly title: ReactNode;
  readonly end?: ReactNode;
  /** Without room around what is inside. */
  readonly flush?: boolean;
  readonly children: ReactNode;
}) {
  const id = useId();
  return (
    <section className="panel" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {end && <div className="end buttons">{end}</div>}
      </header>
      {flush ? children : <div className="inside">{children}</div>}
    </section>
  );
}
