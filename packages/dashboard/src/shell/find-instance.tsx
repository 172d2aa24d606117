/** Finds an instance by its id, from wherever one is: the only one whose id begins so is opened, of several a list. */
import { Search } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useLocation } from "wouter";
import { useSession } from "../api/session.tsx";
import { useAct } from "../api/use-act.ts";
import { foundLink } from "./found-link.ts";
import { isTyping } from "./is-typing.ts";

export function FindInstance() {
  const { client } = useSession();
  const [, navigate] = useLocation();
  const [text, setText] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const find = useAct(async (id: string) => {
    const page = await client.instances({ idPrefix: id, pageSize: 2, brief: true });
    navigate(foundLink(id, page));
    setText("");
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== "/" || isTyping(event)) return;
      event.preventDefault();
      field.current?.focus();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  return (
    <search className="find-instance">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== "") void find.run(text.trim());
        }}
      >
        <Search aria-hidden />
        <input
          ref={field}
          type="search"
          aria-label="Find an instance by id"
          placeholder="Find by id"
          title={find.problem?.message ?? "Find an instance by how its id begins (/)"}
          aria-invalid={find.problem !== null}
          maxLength={100}
          spellCheck={false}
          autoCapitalize="off"
          autoComplete="off"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <kbd aria-hidden>/</kbd>
      </form>
    </search>
  );
}
