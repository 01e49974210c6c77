/** What a page says of an error: no path of a field, and no name of the API. */
import { expect, test } from "bun:test";
import { Compile } from "typebox/compile";
import type { Route } from "../../contract/api/route.ts";
import { routes } from "../../contract/api/routes.ts";
import { explainInvalid } from "../../contract/explain.ts";
import { isJsonObject, objectOf } from "../../contract/json.ts";
import { errorSentence } from "../../dashboard/text/error-sentences.ts";

test.each([
  ["condition.event is missing: keyEventUnseen needs it.", "The event is missing."],
  [
    "churnTargets.user.event is empty: send a name of 1 to 256 characters without spaces, e.g. order_completed.",
    "The event is empty: use a name of 1 to 256 characters without spaces, e.g. order_completed.",
  ],
  [
    "signingSecrets.0 is not valid: send 16 to 256 characters.",
    "The signing secret is not valid: use 16 to 256 characters.",
  ],
  [
    "eventWeights.logged_in is not valid: send a number.",
    "The weight of logged_in is not valid: use a number.",
  ],
  [
    "timezone is not known: send an IANA timezone such as Europe/Paris.",
    "The timezone is not known: use an IANA timezone such as Europe/Paris.",
  ],
  [
    "churnTargets.user.undoneBy is the event itself: send the name of another.",
    "The event that undoes it is the event itself: use the name of another.",
  ],
  [
    "filter.healthFellDays is not valid: send healthFellPoints with it.",
    "The health fell days are not valid: use health fell points with it.",
  ],
  [
    "user and account are not valid together: send one of them.",
    "The user and account are not valid together: use one of them.",
  ],
  [
    "due is not valid: send a date such as 2027-03-31, or null.",
    "The due is not valid: use a date such as 2027-03-31, or null.",
  ],
  [
    "analysis is starting; try again in a few seconds",
    "The analysis is starting; try again in a few seconds",
  ],
  // Sentences stay.
  [
    "The settings changed after you read them. Read them again and send the new version.",
    "The settings changed after you read them. Read them again and send the new version.",
  ],
  [
    "Too many requests: your role needs it. Please wait for it.",
    "Too many requests: your role needs it. Please wait for it.",
  ],
])("%s → %s", (message, said) => {
  expect(errorSentence(message)).toBe(said);
});

/** Values that a schema refuses, by the path of the field that is wrong. */
function wrongValues(
  schema: unknown,
  wrap: (value: unknown) => unknown = (value) => value,
  depth = 0,
): unknown[] {
  const { properties, items, anyOf } = objectOf(schema);
  if (depth > 4) return [];
  const here = [
    wrap(undefined),
    wrap(null),
    wrap(-1e9),
    wrap(""),
    wrap("\u0000 x".repeat(2_000)),
    wrap([[]]),
    wrap({}),
  ];
  const below = Object.entries(objectOf(properties)).flatMap(([name, one]) =>
    wrongValues(one, (value) => wrap({ [name]: value }), depth + 1),
  );
  const inItems = items === undefined ? [] : wrongValues(items, (value) => wrap([value]), depth + 1);
  const inChoices = Array.isArray(anyOf)
    ? anyOf.flatMap((one) =>
        isJsonObject(one) ? wrongValues({ ...one, anyOf: undefined }, wrap, depth + 1) : [],
      )
    : [];
  return [...here, ...below, ...inItems, ...inChoices];
}

const bodies = Object.entries(routes as Readonly<Record<string, Route>>).flatMap(([name, { body }]) =>
  body === undefined ? [] : [[name, body] as const],
);

test.each(bodies)("no error about the body of %s has a path or a name of the API", (_, body) => {
  const validator = Compile(body);
  const messages = new Set(
    wrongValues(body)
      .filter((value) => !validator.Check(value))
      .map((value) => explainInvalid(body, validator, value)),
  );
  expect(messages.size).toBeGreaterThan(0);
  const wrong = [...messages]
    .map((message) => errorSentence(message))
    .filter((said) => {
      // Behind it are values that may be sent, which may have dots.
      const [before = ""] = said.split(": use ");
      return !/^[A-Z]/.test(said) || /[a-z][A-Z]|[a-z]\.[a-z0-9]/.test(before) || said.includes(": send ");
    });
  expect(wrong).toEqual([]);
});
