/** Views of lists that the members of an organization share. */

import { Refusal } from "../../../contract/refusal.ts";
import { viewLimits, type viewPages } from "../../../contract/views.ts";
import type { Actor, AuditNote } from "./audit.ts";

export interface View {
  readonly id: number;
  readonly page: (typeof viewPages)[number];
  readonly name: string;
  /** The part of the page's address after the question mark. */
  readonly query: string;
  /** The name of its author. Null if the person does not exist any more. */
  readonly createdBy: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export type NewView = Pick<View, "page" | "name" | "query">;

/** Every change and its entry in the audit log are one commit. */
export interface ViewStore {
  /** Sorted by page and name. */
  list(organization: number): Promise<readonly View[]>;
  /** @throws Refusal when another view of the page has the name, there are too many, or the organization or
   * the person does not exist. */
  add(organization: number, view: NewView, by: Actor, nowMs: number): Promise<View>;
  /** Changes the given fields. @returns undefined when the organization has no such view.
   * @throws Refusal when another view of the page has the name. */
  change(
    organization: number,
    id: number,
    change: Partial<Pick<View, "name" | "query">>,
    by: Actor,
    nowMs: number,
  ): Promise<View | undefined>;
  /** @returns false when the organization has no such view. */
  remove(organization: number, id: number, by: Actor, nowMs: number): Promise<boolean>;
}

/** The entry of a view that was saved. */
export function viewSavedNote({ id, page, name }: View): AuditNote {
  return {
    action: "view.created",
    summary: `Saved the view ${name} of ${page}`,
    detail: { id, page, name },
  };
}

/** The entry of a view whose name or query was changed. The entry leaves out the query, because an erasure
 * does not reach the log. */
export function viewChangedNote(before: View, after: View): AuditNote {
  const { id, page } = before;
  return {
    action: "view.changed",
    summary:
      after.name === before.name
        ? `Changed the view ${after.name} of ${page}`
        : `The view ${before.name} of ${page} is called ${after.name} now`,
    detail: { id, page, from: before.name, to: after.name, query: after.query !== before.query },
  };
}

/** The entry of a view that was deleted. */
export function viewDeletedNote({ id, page, name }: View): AuditNote {
  return {
    action: "view.deleted",
    summary: `Deleted the view ${name} of ${page}`,
    detail: { id, page, name },
  };
}

/** The error when another view of the page has the name. */
export function viewNameTaken(name: string): Refusal {
  return new Refusal(`name is taken: there is a view called ${name} already.`);
}

/** @param views the number of the organization's views
 * @throws Refusal when the limit is reached */
export function refuseTooManyViews(views: number): void {
  const { viewsPerOrganization: most } = viewLimits;
  if (views < most) return;
  throw new Refusal(`There are ${most} views already: delete one before you save another.`);
}
