/** What is being typed, told when the person pauses. */
import { useEffect, useRef, useState } from "react";

export function useDebounced(value: string, onSettled: (text: string) => void, ms = 300) {
  const [text, setText] = useState(value);
  const [known, setKnown] = useState(value);
  const tell = useRef(onSettled);
  tell.current = onSettled;
  // It was changed elsewhere: by Back, or by a link.
  if (value !== known) {
    setKnown(value);
    setText(value);
  }
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => tell.current(text), ms);
    return () => clearTimeout(timer);
  }, [text, value, ms]);
  return [text, setText] as const;
}
