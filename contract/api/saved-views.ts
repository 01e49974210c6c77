/** Views of lists that an organization has saved, as JSON Schema: filters, sort and columns under a name. */
import Type from "typebox";
import { nameRules } from "../names.ts";
import { keyRoute } from "./route.ts";
import { closedObject, Field, nullable } from "./schema.ts";

export const viewLimits = { nameCharacters: 80, queryCharacters: 2_000, viewsPerOrganization: 200 } as const;

/** Pages whose views can be saved. */
export const viewPages = ["users", "accounts"] as const;

const page = Type.Enum([...viewPages], { "x-send": `one of ${viewPages.join(", ")}` });
const name = Type.String({
  ...nameRules,
  maxLength: viewLimits.nameCharacters,
  description: "Unique among the views of a page.",
  "x-send": `1 to ${viewLimits.nameCharacters} characters and no control character`,
});
const queryText =
  "The query of the page's address, after the question mark, without `search`, which may name a user.";
const query = Type.String({
  maxLength: viewLimits.queryCharacters,
  pattern: "^[^\\s?#]*$",
  description: queryText,
  "x-send": `the query of an address, at most ${viewLimits.queryCharacters} characters, without ? and #`,
});

const ViewAnswer = Type.Object({
  id: Type.Integer({ minimum: 1 }),
  page: Type.Enum([...viewPages]),
  name: Type.String(),
  query: Field.text(queryText),
  createdBy: nullable(Field.text("The name of the author."), {
    description: "Null if the author has left.",
  }),
  createdAt: Field.instant("When it was saved."),
  updatedAt: Field.instant("When it was changed last."),
});

export const ViewsAnswer = Type.Object({
  views: Type.Array(ViewAnswer, { description: "Sorted by page and name." }),
});

const ViewCreateBody = closedObject({ page, name, query });

const ViewChangeBody = closedObject(
  { name: Type.Optional(name), query: Type.Optional(query) },
  { minProperties: 1, "x-send": "a JSON object with at least one of name, query" },
);

/** Saved views of lists. */
export const viewRoutes = {
  "GET /api/views": keyRoute.read({ summary: "Saved views of lists", answer: ViewsAnswer }),
  "POST /api/views": keyRoute.manage({
    summary: "Save a view for all team members",
    body: ViewCreateBody,
    status: 201,
    answer: ViewAnswer,
  }),
  "PATCH /api/views/:id": keyRoute.manage({
    summary: "Rename a view, or change what it shows",
    body: ViewChangeBody,
    answer: ViewAnswer,
  }),
  "DELETE /api/views/:id": keyRoute.manage({ summary: "Delete a view", status: 204 }),
} as const;
