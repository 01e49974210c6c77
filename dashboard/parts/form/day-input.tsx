/** A field for a day, written as everywhere else on the pages: 28 Nov 2026. The browser's own field has the
 * order of its own language. */
import { type ReactElement, type ReactNode, useRef, useState } from "react";
import { dayText } from "../../text/format.ts";
import { dayProblem, typedDay } from "../../text/typed-day.ts";
import { useToday } from "../time.tsx";
import { IconButton } from "./button.tsx";
import { Input } from "./field.tsx";
import { useTyped } from "./typed.ts";

/** A typed day is taken when the field loses the focus or Enter is pressed, a day of the calendar at once.
 * @param value YYYY-MM-DD @param min,max the first and the last day that can be chosen @param onDay called
 * with another day, or none */
export function DayInput({
  label,
  value,
  min,
  max,
  help,
  error,
  onDay,
}: {
  label: string;
  value: string | undefined;
  min?: string | undefined;
  max?: string | undefined;
  help?: ReactNode;
  error?: string | undefined;
  onDay: (day: string | undefined) => void;
}): ReactElement {
  const today = useToday();
  const [typed, setTyped] = useTyped(value === undefined ? "" : dayText(value));
  const [problem, setProblem] = useState<string>();
  const field = useRef<HTMLInputElement>(null);
  const calendar = useRef<HTMLInputElement>(null);
  const tell = (day: string | undefined, found: string | undefined) => {
    setProblem(found);
    // The browser sends no form with such a field.
    field.current?.setCustomValidity(found ?? "");
    if (found !== undefined) return;
    if (day !== value) onDay(day);
    else setTyped(day === undefined ? "" : dayText(day));
  };
  const take = () => {
    const day = typedDay(typed, today);
    if (typed.trim() === "") tell(undefined, undefined);
    else tell(day, day === value ? undefined : dayProblem(day, { min, max }));
  };
  return (
    <div className="relative">
      <Input
        ref={field}
        label={label}
        autoComplete="off"
        placeholder={dayText(today)}
        className="pr-10"
        value={typed}
        help={help}
        error={problem ?? error}
        onChange={({ target }) => {
          target.setCustomValidity("");
          setTyped(target.value);
        }}
        onKeyDown={({ key }) => key === "Enter" && take()}
        onBlur={take}
      />
      <input
        ref={calendar}
        type="date"
        tabIndex={-1}
        aria-hidden="true"
        className="pointer-events-none absolute top-6 right-0 h-9 w-8 opacity-0"
        min={min}
        max={max}
        value={value ?? ""}
        onChange={({ target }) => tell(target.value === "" ? undefined : target.value, undefined)}
      />
      <IconButton
        icon="calendar"
        label="Calendar"
        className="absolute! top-[1.6rem] right-0.5"
        onClick={() => calendar.current?.showPicker()}
      />
    </div>
  );
}
