/** A field for a day. */
import { type ReactElement, type ReactNode, useRef } from "react";
import { Input } from "./field.tsx";
import { useTyped } from "./typed.ts";

/** A typed day is sent when the field loses the focus or Enter is pressed: while 2026 is typed, the browser sends the years
 * 2, 20 and 202. A day chosen in the browser's calendar is sent at once.
 * @param value YYYY-MM-DD @param max the last day that can be chosen @param onDay called with another day, or none */
export function DayInput({
  label,
  value,
  max,
  help,
  onDay,
}: {
  label: string;
  value: string | undefined;
  max: string;
  help?: ReactNode;
  onDay: (day: string | undefined) => void;
}): ReactElement {
  const [typed, setTyped] = useTyped(value ?? "");
  const isTyping = useRef(false);
  const tell = (day: string) => {
    isTyping.current = false;
    if (day !== (value ?? "")) onDay(day === "" ? undefined : day);
  };
  return (
    <Input
      label={label}
      type="date"
      max={max}
      value={typed}
      help={help}
      onKeyDown={({ key }) => {
        if (key === "Enter") tell(typed);
        else isTyping.current = true;
      }}
      onChange={({ target }) => {
        setTyped(target.value);
        if (!isTyping.current) tell(target.value);
      }}
      onBlur={() => tell(typed)}
    />
  );
}
