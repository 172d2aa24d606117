/** Says quietly, also to screen readers, that something was done. */
import { createContext, type ReactNode, useContext, useEffect, useState } from "react";

const Say = createContext<(text: string) => void>(() => {});
const Said = createContext("");

const shownMs = 8000;

export function SaidProvider({ children }: { readonly children: ReactNode }) {
  const [said, setSaid] = useState({ text: "" });
  useEffect(() => {
    if (said.text === "") return;
    const timer = setTimeout(() => setSaid({ text: "" }), shownMs);
    return () => clearTimeout(timer);
  }, [said]);
  const [say] = useState(() => (text: string) => setSaid({ text }));
  return (
    <Say value={say}>
      <Said value={said.text}>{children}</Said>
    </Say>
  );
}

export function useSay(): (text: string) => void {
  return useContext(Say);
}

export function SaidText() {
  return (
    <span className="said small dim" role="status">
      {useContext(Said)}
    </span>
  );
}
