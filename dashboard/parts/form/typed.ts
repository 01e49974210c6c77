/** A value that is typed or chosen, before it is taken over. */
import { useState } from "react";

/** A state that begins with a value, and again whenever the value becomes another. */
export function useTyped<Value>(value: Value): readonly [Value, (typed: Value) => void] {
  const [typed, setTyped] = useState(value);
  const [from, setFrom] = useState(value);
  if (from !== value) {
    setFrom(value);
    setTyped(value);
  }
  return [typed, setTyped];
}
