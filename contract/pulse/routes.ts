/** Pulses of accounts, as JSON Schema. */
import Type from "typebox";
import { analysisRoute, keyRoute } from "../api/route.ts";
import { closedObject, Field, listOf, nullable, Parameter } from "../api/schema.ts";
import { nameRules } from "../names.ts";
import { pulseLimits, pulseStates } from "./pulse.ts";

const { lowest, highest, textCharacters, staleAfterDays } = pulseLimits;

const PulseBody = closedObject({
  value: Type.Integer({
    minimum: lowest,
    maximum: highest,
    description: `From ${lowest}, about to leave, to ${highest}, delighted.`,
    "x-send": `a whole number from ${lowest} to ${highest}`,
  }),
  text: Type.String({
    ...nameRules,
    maxLength: textCharacters,
    description: "Why, in a sentence.",
    "x-send": `1 to ${textCharacters} characters and no control character`,
  }),
});

const said = {
  id: Type.Integer({ minimum: 1 }),
  value: Type.Integer({ minimum: lowest, maximum: highest }),
  text: Type.String(),
  saidBy: nullable(Type.Object({ id: Type.Integer({ minimum: 1 }), name: Type.String() }), {
    description: "The team member who judged. Null if the author is not a team member.",
  }),
  saidAt: Field.instant("When it was said."),
  takenBackAt: nullable(Field.instant("When it was taken back. Null if it was not.")),
};

const PulsesParameters = closedObject({ limit: Parameter.positive(500, 50, "At most this many pulses.") });

const PulsesAnswer = Type.Object({
  pulse: nullable(Type.Integer({ minimum: lowest, maximum: highest }), {
    description:
      "The pulse that counts now. Scores know a pulse from the day after it was said. Null: none counts.",
  }),
  pulses: listOf("The newest first.", {
    ...said,
    state: Field.oneOf(
      pulseStates,
      `current: it counts. stale: it was said more than ${staleAfterDays} days ago. owner_changed: the account got another owner since, or has none any more. replaced: there is a newer one. taken_back: a team member took it back.`,
    ),
  }),
});

export const pulseRoutes = {
  "POST /api/accounts/:accountId/pulses": keyRoute.manage({
    summary: "Say the pulse of an account: how it is doing in the judgement of a team member",
    body: PulseBody,
    status: 201,
    answer: Type.Object(said),
  }),
  "DELETE /api/pulses/:id": keyRoute.manage({
    summary: "Take back a pulse: it stays in the history and counts no more",
    command: "pulse take-back",
    status: 204,
  }),
} as const;

export const pulseFigureRoutes = {
  "GET /api/accounts/:accountId/pulses": analysisRoute.read({
    summary: "The pulse of an account, and what was said before",
    query: PulsesParameters,
    answer: PulsesAnswer,
    table: "pulses",
  }),
} as const;
