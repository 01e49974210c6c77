/** Which users a rule would exclude, before it is added. */
import { type ReactElement, useEffect, useState } from "react";
import { type Changes, type Reads, useRead } from "../../api/query.ts";
import { counted } from "../../text/format.ts";

export type NewRule = NonNullable<Changes["POST /api/exclusions"]["query"]> & {
  readonly kind: NonNullable<NonNullable<Changes["POST /api/exclusions"]["query"]>["kind"]>;
  readonly value: string;
};
type Preview = Reads["/api/exclusions/preview"]["answer"];

/** So long nothing is typed before the server is asked. */
const restMs = 300;

/** A line below the form. Nothing while the rule is not whole, or is one that would be refused. */
export function RulePreview({ rule }: { rule: NewRule }): ReactElement {
  const rested = useRested(JSON.stringify(rule));
  const { kind, key = "", value }: NewRule = JSON.parse(rested);
  const isWhole = kind === "trait" ? key !== "" : value !== "";
  const preview = useRead("/api/exclusions/preview", {
    query: { kind, key, value },
    enabled: isWhole,
    keepsPrevious: true,
  });
  return (
    <p role="status" aria-live="polite" className="mt-3 min-h-[1.375rem] text-soft empty:hidden">
      {isWhole && preview.data !== undefined && !preview.isError && <Told preview={preview.data} />}
    </p>
  );
}

function Told({ preview: { users, alreadyExcluded, examples } }: { preview: Preview }): ReactElement {
  if (users === 0) {
    return <b className="font-medium text-watch">This rule matches no user. Check the spelling.</b>;
  }
  const added = users - alreadyExcluded;
  const names = examples.map(({ userId, name, email }) => name ?? email ?? userId).join(", ");
  return (
    <>
      Would exclude <b className="font-medium text-ink">{counted(added, "user")}</b>
      {alreadyExcluded > 0 && `, and matches ${counted(alreadyExcluded, "user")} already excluded`}
      {`, e.g. ${names}.`}
    </>
  );
}

/** The text as it was when it had not changed for a moment. */
function useRested(text: string): string {
  const [rested, setRested] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), restMs);
    return () => clearTimeout(timer);
  }, [text]);
  return rested;
}
