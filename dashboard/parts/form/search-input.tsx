/** The search field of a list. The slash key moves the focus to it. */
import { useLocation, useRouter } from "@tanstack/react-router";
import { type ReactElement, useEffect, useRef, useState } from "react";
import { classes } from "../../text/classes.ts";
import { Icon } from "../icons.tsx";
import { Input } from "./field.tsx";

/** The pause in typing after which the search begins. */
const typingPauseMs = 200;

/** @param value the text that rows are searched for now @param onSearch called when the reader has typed
 * another text
 * @param hasKey whether a slash leads to the field */
export function SearchInput({
  label,
  placeholder,
  value,
  onSearch,
  hasKey = false,
  className,
}: {
  label: string;
  placeholder: string;
  value: string;
  onSearch: (text: string) => void;
  hasKey?: boolean;
  className?: string;
}): ReactElement {
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(value);
  /** Texts that were sent and are not back as `value` yet, after the last one that is. A busy page follows
   * late. */
  const sent = useRef([value]);
  const tell = useRef(onSearch);
  tell.current = onSearch;
  useEffect(() => {
    const own = sent.current.indexOf(value);
    // Changed elsewhere: by going back, or by clearing all filters.
    if (own < 0) setText(value);
    sent.current = own < 0 ? [value] : sent.current.slice(own);
  }, [value]);
  const router = useRouter();
  const location = useLocation();
  useEffect(() => {
    // Another address is on its way.
    if (location.href !== router.latestLocation.href || sent.current.at(-1) === value) return;
    // The text that was sent is not in the address: the reader went to another page at once, e.g. to a row.
    setText(value);
    sent.current = [value];
  }, [value, location, router]);
  useEffect(() => {
    if (text === sent.current.at(-1)) return;
    const timer = setTimeout(() => {
      sent.current.push(text);
      tell.current(text);
    }, typingPauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  useSlash(hasKey, () => field.current?.select());
  return (
    <div className={classes("relative", className)}>
      <Icon
        name="search"
        className="pointer-events-none absolute top-1/2 left-2.5 z-[1] -translate-y-1/2 text-soft"
      />
      <Input
        ref={field}
        label={label}
        isLabelHidden
        type="search"
        placeholder={placeholder}
        maxLength={256}
        aria-keyshortcuts={hasKey ? "/" : undefined}
        value={text}
        onChange={({ target }) => setText(target.value)}
        className={classes("h-8! pl-8! text-sm!", hasKey && "pr-8!")}
      />
      {hasKey && (
        <kbd className="pointer-events-none absolute top-1/2 right-2 hidden -translate-y-1/2 rounded border border-line px-1 font-sans text-xs text-soft sm:block">
          /
        </kbd>
      )}
    </div>
  );
}

/** A slash where nothing is being typed. The shell would open its palette with it, which is why it goes no
 * further. */
function useSlash(isOn: boolean, go: () => void): void {
  const act = useRef(go);
  act.current = go;
  useEffect(() => {
    if (!isOn) return undefined;
    const onKey = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLElement && event.target.matches("input, textarea, select");
      const isOver = document.querySelector("[data-modal]") !== null;
      if (event.key !== "/" || isTyping || isOver || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      event.stopPropagation();
      act.current();
    };
    addEventListener("keydown", onKey, { capture: true });
    return () => removeEventListener("keydown", onKey, { capture: true });
  }, [isOn]);
}
