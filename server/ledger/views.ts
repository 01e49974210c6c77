/** Views of lists that the members of an organization share. */
import type { viewPages } from "../../contract/views.ts";
import type { Actor } from "./audit.ts";

export interface View {
  readonly id: number;
  readonly page: (typeof viewPages)[number];
  readonly name: string;
  /** Of the page's address, after the question mark. */
  readonly query: string;
  /** The name of who saved it; null when the person is not there any more. */
  readonly createdBy: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export type NewView = Pick<View, "page" | "name" | "query">;

/** Every change and its entry in the audit log are one commit. */
export interface ViewStore {
  /** By page and name. */
  list(organization: number): Promise<readonly View[]>;
  /** @throws Refusal when another view of the page has the name, or there are too many. */
  add(organization: number, view: NewView, by: Actor, nowMs: number): Promise<View>;
  /** Changes what is given. @returns undefined when the organization has no such view.
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
