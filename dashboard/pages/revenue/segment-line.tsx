/** The sentence that says which payers a segment has. */
import type { ReactElement } from "react";
import { type SegmentKind, useSegments } from "../segments/segments.ts";
import { useChoices } from "./question.ts";

const payersOf: Readonly<Record<SegmentKind, string>> = {
  accounts: "its accounts, and the users of them who pay without an account",
  users: "its users who pay without an account, and all accounts with at least one member in it",
};

/** Drawn only while a segment is chosen. */
export function SegmentLine(): ReactElement | null {
  const [{ segment: chosen }] = useChoices();
  const segment = useSegments().find(({ id }) => id === chosen);
  if (segment === undefined) return null;
  return (
    <p className="max-w-[108ch] text-sm text-pretty text-soft [overflow-wrap:anywhere]">
      Only payers of the segment “{segment.name}”: {payersOf[segment.kind]}. All periods count its current
      members.
    </p>
  );
}
