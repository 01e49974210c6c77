/** Team members in choices, by their ids as texts. */
import { useRead } from "../../api/query.ts";
import { useSession } from "../../app/session.ts";
import type { Choice } from "../../parts/form/field.tsx";

/** All team members by name, the reader first. Empty until they are known. */
export function useMemberChoices(): readonly Choice[] {
  const { id: own } = useSession().person;
  const members = useRead("/api/members").data?.members ?? [];
  return members
    .toSorted((a, b) => Number(b.id === own) - Number(a.id === own) || a.name.localeCompare(b.name, "en"))
    .map(({ id, name }) => ({ value: String(id), label: id === own ? `${name} (you)` : name }));
}

/** The choices with one that is not among them, as for a member who left. */
export function withChoice(choices: readonly Choice[], value: string, label: string): readonly Choice[] {
  return value === "" || choices.some((one) => one.value === value)
    ? choices
    : [...choices, { value, label }];
}
