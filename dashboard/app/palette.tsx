/** The command palette: pages, settings, saved views, users, accounts and events by a few letters, without
 * leaving the keyboard. */
import { type KeyboardEvent, type ReactElement, useEffect, useId, useState } from "react";
import { Dialog } from "../parts/form/dialog.tsx";
import { Icon } from "../parts/icons.tsx";
import { classes } from "../text/classes.ts";
import { numbers } from "../text/format.ts";
import { type Hit, isAskedFor, useHits } from "./palette-hits.ts";

/** @param typedBefore asked once: the letters that were typed while this was loaded */
export default function Palette({
  onClose,
  typedBefore,
}: {
  onClose: () => void;
  typedBefore: () => string;
}): ReactElement {
  const [text, setText] = useState(typedBefore);
  const [chosen, setChosen] = useState(0);
  /** Enter was pressed before the hits of the text were there. */
  const [isEntered, setEntered] = useState(false);
  const list = useId();
  const { hits, found, isAsking } = useHits(text.trim());
  const at = Math.min(chosen, Math.max(0, hits.length - 1));
  const chosenHit = hits[at];
  const goesTo = chosenHit && isAsking && isAskedFor(chosenHit) ? undefined : chosenHit;
  const go = (hit: Hit) => {
    onClose();
    void hit.go();
  };
  useEffect(() => {
    if (!isEntered || isAsking) return;
    setEntered(false);
    if (goesTo !== undefined) go(goesTo);
  });
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && hits.length > 0) {
      event.preventDefault();
      setChosen((at + step + hits.length) % hits.length);
    }
    if (event.key === "Enter") {
      event.preventDefault();
      if (goesTo === undefined) setEntered(isAsking);
      else go(goesTo);
    }
  };
  return (
    <Dialog isOpen onClose={onClose} title="Find a page, a user or an account" isTitleHidden>
      <div className="flex items-center gap-2.5 border-b border-line px-4">
        <Icon name="search" className="text-soft" />
        <input
          autoFocus
          role="combobox"
          aria-expanded="true"
          aria-controls={list}
          aria-activedescendant={chosenHit === undefined ? undefined : `${list}-${at}`}
          aria-label="Find a page, a user or an account"
          placeholder="A page, a user, an account"
          value={text}
          maxLength={200}
          onChange={({ target }) => {
            setText(target.value);
            setChosen(0);
            setEntered(false);
          }}
          onKeyDown={onKey}
          className="h-12 min-w-0 grow bg-transparent text-lg outline-none"
        />
        <kbd className="rounded border border-line px-1 font-sans text-xs text-soft">Esc</kbd>
      </div>
      <div id={list} role="listbox" aria-label="Found" className="max-h-[50dvh] overflow-y-auto p-1.5">
        {hits.map((hit, index) => (
          <HitRow
            key={hit.id}
            hit={hit}
            id={`${list}-${index}`}
            isChosen={index === at}
            isFirst={hits[index - 1]?.group !== hit.group}
            onPoint={() => setChosen(index)}
            onGo={() => go(hit)}
          />
        ))}
      </div>
      <p role="status" className={classes("px-4 text-soft", hits.length === 0 ? "pt-3 pb-5" : "sr-only")}>
        {hits.length > 0 ? `${numbers.count(found)} found` : isAsking ? "Looking …" : "No results"}
      </p>
    </Dialog>
  );
}

function HitRow({
  hit,
  id,
  isChosen,
  isFirst,
  onPoint,
  onGo,
}: {
  hit: Hit;
  id: string;
  isChosen: boolean;
  isFirst: boolean;
  onPoint: () => void;
  onGo: () => void;
}): ReactElement {
  return (
    <>
      {isFirst && (
        <p aria-hidden="true" className="px-2.5 pt-2 pb-1 text-xs text-soft">
          {hit.group}
        </p>
      )}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field, which keeps the focus */}
      <div
        id={id}
        role="option"
        tabIndex={-1}
        aria-selected={isChosen}
        onPointerMove={onPoint}
        onClick={onGo}
        className={classes(
          "flex cursor-pointer items-center gap-2.5 rounded px-2.5 py-1.5",
          isChosen && "bg-sunk",
        )}
      >
        <Icon name={hit.icon} className="text-soft" />
        <span className="truncate">{hit.label}</span>
        <span className="ml-auto truncate pl-4 text-sm text-soft">{hit.about}</span>
        <span className="sr-only">, {hit.group}</span>
      </div>
    </>
  );
}
