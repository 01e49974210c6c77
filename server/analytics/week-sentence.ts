/** Shared parts of sentences about a week: how a change is judged, and the form of a sentence. */
import type { JudgedChange, UsualChange } from "../scoring/statistics/usual.ts";
import { type Part, type Piece, partsOf } from "./sentence.ts";

export interface Sentence {
  readonly about: "data" | "active" | "lifecycle" | "health" | "risk" | "call";
  readonly tone: "good" | "bad" | "neutral";
  readonly text: string;
  readonly parts: readonly Part[];
  readonly usual: UsualChange | null;
  readonly isUnusual: boolean | null;
}

const judgements = {
  below: "Below normal.",
  within: "Normal.",
  above: "Above normal.",
} as const;

/** Whether a change is usual, as a sentence. */
export function judgedWords(judged: JudgedChange | undefined): string {
  const side = judged?.side;
  return side == null ? "Too few weeks to compare." : judgements[side];
}

/** A usual change is neutral. @param good which direction of an unusual change is good */
export function toneOf(judged: JudgedChange | undefined, good: "above" | "below"): Sentence["tone"] {
  if (judged?.side == null || judged.side === "within") return "neutral";
  return judged.side === good ? "good" : "bad";
}

/** A sentence with its judgement. */
export function sentence(
  about: Sentence["about"],
  tone: Sentence["tone"],
  pieces: readonly Piece[],
  judged?: JudgedChange,
): Sentence {
  const parts = partsOf(...pieces);
  const text = parts.map((part) => part.text).join("");
  const isUnusual = judged?.side == null ? null : judged.side !== "within";
  return { about, tone, text, parts, usual: judged?.usual ?? null, isUnusual };
}
