/** How the deletion of an organization is asked for. */
import { Type } from "typebox";

export const OrganizationDeletionParameters = Type.Object(
  { name: Type.String({ description: "The organization's name, to confirm." }) },
  { additionalProperties: false },
);
