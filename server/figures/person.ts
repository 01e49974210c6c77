/** Everything about a person as a file: for an access request. */
import type { DocumentHandlers } from "../http/api/context.ts";

const maxNameCharacters = 80;

export const documents = {
  /** in the audit log before the first byte. */
  "GET /api/users/:userId/everything": async ({ analysis, organization, actor: by, path }) => {
    const { userId } = path;
    const name = userId
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .slice(0, maxNameCharacters);
    return {
      fileName: `person-${name}.json`,
      contentType: "application/json; charset=utf-8",
      chunks: analysis.person({ organization: organization.id, userId, by }),
    };
  },
} satisfies DocumentHandlers;
