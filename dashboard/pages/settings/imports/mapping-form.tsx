/** What a file is and what its columns become, beginning with the guess. */
import { type ReactElement, type ReactNode, useState } from "react";
import { useChange } from "../../../api/query.ts";
import { Button } from "../../../parts/form/button.tsx";
import { FormError, Input, Select } from "../../../parts/form/field.tsx";
import { fieldErrors } from "../../../parts/form/form-errors.ts";
import { Scrollable } from "../../../parts/list/scrollable.tsx";
import {
  type Detail,
  type Kind,
  kindNames,
  type Preview,
  roleChoices,
  type SentMapping,
  type SentRole,
  type Tool,
  toolNames,
} from "./import-words.ts";

type What = Kind | Tool;

const kinds: readonly Kind[] = ["events", "users", "accounts"];
const tools: readonly Tool[] = ["mixpanel", "amplitude", "posthog", "segment", "rudderstack", "stripe"];
const whats = [
  ...kinds.map((value) => ({ value, label: kindNames[value], group: "By its columns" })),
  ...tools.map((value) => ({ value, label: toolNames[value], group: "Export of a tool" })),
];
const zones = Intl.supportedValuesOf("timeZone");
const timeFormats = [
  { value: "auto", label: "As they are written" },
  { value: "dmy", label: "Day first: 31/12/2025" },
  { value: "mdy", label: "Month first: 12/31/2025" },
  { value: "excel", label: "Days of Excel: 46022.5" },
] as const;

function isTool(what: What): what is Tool {
  return tools.some((tool) => tool === what);
}

/** The form. @param children the outcome of the dry run, shown until the mapping is changed */
export function MappingForm({
  file,
  preview,
  children,
}: {
  file: Detail;
  preview: Preview;
  children: ReactNode;
}): ReactElement {
  const { mapping } = file;
  const [what, setWhat] = useState<What>(
    mapping?.from ?? mapping?.kind ?? preview.from ?? preview.kind ?? "events",
  );
  const [roles, setRoles] = useState<Readonly<Record<string, SentRole>>>(
    () => mapping?.roles ?? Object.fromEntries(preview.columns.map(({ name, role }) => [name, role])),
  );
  const [timezone, setTimezone] = useState(mapping?.timezone ?? "");
  const [timeFormat, setTimeFormat] = useState<NonNullable<SentMapping["timeFormat"]>>(
    mapping?.timeFormat ?? "auto",
  );
  const [eventName, setEventName] = useState(mapping?.eventName ?? "");
  const [accountProperty, setAccountProperty] = useState(mapping?.accountProperty ?? "");
  const [isChanged, setChanged] = useState(false);
  const check = useChange("POST /api/imports/:id/check");
  const errors = fieldErrors(check.error, ["timezone", "timeFormat", "eventName", "accountProperty"]);
  const change =
    <Value,>(set: (value: Value) => void) =>
    (value: Value) => {
      setChanged(true);
      set(value);
    };
  const time = preview.columns.find(({ name }) => roles[name] === "timestamp");
  const asksZone =
    what === "mixpanel" || (!isTool(what) && time?.times !== undefined && time.times !== "clear");
  const hasEvent = Object.values(roles).includes("event");
  const send = () => {
    const body: SentMapping = isTool(what)
      ? {
          from: what,
          ...(asksZone && timezone.trim() !== "" && { timezone: timezone.trim() }),
          ...(takesAccount(what) &&
            accountProperty.trim() !== "" && { accountProperty: accountProperty.trim() }),
        }
      : {
          from: null,
          kind: what,
          roles: rolesFor(what, roles),
          ...(asksZone && timezone.trim() !== "" && { timezone: timezone.trim() }),
          ...(time !== undefined && { timeFormat }),
          ...(what === "events" && !hasEvent && eventName.trim() !== "" && { eventName: eventName.trim() }),
        };
    check.mutate({ path: { id: file.id }, body });
  };
  const reason = isTool(what) ? preview.fromReason : preview.kindReason;
  const isGuess = what === (preview.from ?? preview.kind);
  return (
    <div className="grid gap-5">
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <div className="grid max-w-2xl gap-4 sm:grid-cols-2">
          <Select
            label="What it is"
            value={what}
            choices={whats}
            onChoose={change(setWhat)}
            help={isGuess ? (reason ?? undefined) : undefined}
          />
          {!isTool(what) && time !== undefined && (
            <Select
              label="How times are written"
              value={timeFormat === "utc" ? "auto" : timeFormat}
              choices={timeFormats}
              onChoose={change(setTimeFormat)}
              error={errors.of("timeFormat")}
            />
          )}
          {asksZone && (
            <Input
              label="Timezone of times without one"
              suggestions={zones}
              value={timezone}
              onChange={({ target }) => change(setTimezone)(target.value)}
              required={time?.times === "zoneless" && !isTool(what)}
              spellCheck={false}
              autoComplete="off"
              help="UTC, or e.g. Europe/Paris"
              error={errors.of("timezone")}
            />
          )}
          {what === "events" && !hasEvent && (
            <Input
              label="Name of all events"
              value={eventName}
              onChange={({ target }) => change(setEventName)(target.value)}
              required
              maxLength={256}
              help="No column is the event."
              error={errors.of("eventName")}
            />
          )}
          {isTool(what) && takesAccount(what) && (
            <Input
              label="Property that is the account"
              value={accountProperty}
              onChange={({ target }) => change(setAccountProperty)(target.value)}
              spellCheck={false}
              error={errors.of("accountProperty")}
            />
          )}
        </div>
        <ColumnTable
          preview={preview}
          kind={isTool(what) ? undefined : what}
          roles={roles}
          onChoose={(name, role) => change(setRoles)(Object.assign({}, roles, { [name]: role }))}
        />
        <FormError error={errors.rest} />
        <div>
          <Button
            type="submit"
            look={isChanged || file.check === null ? "primary" : "plain"}
            isBusy={check.isPending}
          >
            Check file
          </Button>
        </div>
      </form>
      {!isChanged && children}
    </div>
  );
}

function takesAccount(tool: Tool): boolean {
  return tool === "mixpanel" || tool === "amplitude";
}

/** The roles that mean something for the kind. */
function rolesFor(kind: Kind, roles: Readonly<Record<string, SentRole>>): Record<string, SentRole> {
  const known = roleChoices(kind).map(({ value }) => value);
  return Object.fromEntries(
    Object.entries(roles).map(([name, role]) => [name, known.includes(role) ? role : "property"]),
  );
}

/** The columns with what they become, and the first rows below. */
function ColumnTable({
  preview: { columns, rows },
  kind,
  roles,
  onChoose,
}: {
  preview: Preview;
  kind: Kind | undefined;
  roles: Readonly<Record<string, SentRole>>;
  onChoose: (name: string, role: SentRole) => void;
}): ReactElement {
  const choices = kind === undefined ? [] : roleChoices(kind);
  const roleOf = (name: string) => choices.find(({ value }) => value === roles[name])?.value ?? "property";
  return (
    <Scrollable label="First rows" className="max-h-120 overflow-auto rounded border border-line">
      <table className="text-sm">
        <thead>
          <tr>
            {columns.map(({ name, role, reason }) => (
              <th
                key={name}
                scope="col"
                className="min-w-40 border-b border-line px-3 py-2 text-left align-top font-normal"
              >
                <span className="block pb-1 font-medium break-all">{name}</span>
                {kind !== undefined && (
                  <Select
                    label={`What ${name} becomes`}
                    isLabelHidden
                    isSmall
                    value={roleOf(name)}
                    choices={choices}
                    onChoose={(chosen) => onChoose(name, chosen)}
                    help={roleOf(name) === role ? reason : undefined}
                  />
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a file never move
            <tr key={index}>
              {row.map((cell, at) => (
                <td key={columns[at]?.name} className="max-w-80 truncate border-b border-line px-3 py-1.5">
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scrollable>
  );
}
