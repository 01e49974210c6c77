/** A text that a team member wrote, with its links and bold words. */
import type { ReactElement } from "react";
import { proseParts } from "../text/prose-parts.ts";

export function Prose({ text }: { text: string }): ReactElement {
  const parts = proseParts(text).map((part, at) => ({ part, key: `${at} ${part.text}` }));
  return (
    <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">
      {parts.map(({ part, key }) => {
        if (part.kind !== "link") return part.kind === "bold" ? <b key={key}>{part.text}</b> : part.text;
        return (
          <a
            key={key}
            href={part.address}
            target="_blank"
            rel="noopener noreferrer nofollow"
            className="underline decoration-edge underline-offset-3"
          >
            {part.text}
          </a>
        );
      })}
    </p>
  );
}
