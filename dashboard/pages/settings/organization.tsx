/** The organization itself: its name, its days, how fast it may be written to, how long raw events are
 * kept. */
import { useQueryClient } from "@tanstack/react-query";
import { type ReactElement, useState } from "react";
import { type Reads, useChange, useRead } from "../../api/query.ts";
import { sessionQuery, useMayAs } from "../../app/session.ts";
import { Input } from "../../parts/form/field.tsx";
import { DraftForm, SavedValues, tiedTo, useDraft } from "../../parts/form/form.tsx";
import { fieldErrors } from "../../parts/form/form-errors.ts";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Figures, Loading } from "../../parts/states.tsx";
import { Instant, useNowMs } from "../../parts/time.tsx";
import { useTell } from "../../parts/toast.tsx";
import { counted, dayText, numbers, timeText, todayIn } from "../../text/format.ts";
import { DeleteOrganization } from "./delete-organization.tsx";
import { Rebuilding } from "./rebuilding.tsx";

type Organization = Reads["/api/organization"]["answer"];

export default function OrganizationSettings(): ReactElement {
  const asked = useRead("/api/organization");
  const mayChange = useMayAs("owner");
  return (
    <>
      <PageHeader title="Organization">
        {mayChange ? "Name and timezone" : "Only owners can change these settings."}
      </PageHeader>
      <Figures asked={asked} loading={<Loading rows={6} height={32} />}>
        {(saved) =>
          mayChange ? (
            <div className="grid gap-5">
              <Form saved={saved} />
              <DeleteOrganization />
            </div>
          ) : (
            <Read saved={saved} />
          )
        }
      </Figures>
    </>
  );
}

function Read({ saved }: { saved: Organization }): ReactElement {
  return (
    <div className="grid gap-5">
      <Rebuilding isExpected={false} />
      <Panel>
        <SavedValues
          values={[
            ["Name", saved.name],
            ["Timezone", `${saved.timezone}, where it is ${dayText(saved.today, "long")}`],
            ["Requests per second of each project token", numbers.count(saved.requestsPerSecond)],
            ["Items of batches per second of each project token", numbers.count(saved.itemsPerSecond)],
            ["Raw events are kept", keptText(saved.keepEventsDays)],
            ["Created", <Instant key="created" instant={saved.createdAt} />],
          ]}
        />
      </Panel>
    </div>
  );
}

const keptText = (days: number | null) => (days === null ? "for ever" : `for ${counted(days, "day")}`);

/** The values of the fields, as typed. */
interface Typed {
  readonly name: string;
  readonly timezone: string;
  readonly requestsPerSecond: string;
  readonly keepEventsDays: string;
}

type TiedField = ReturnType<typeof tiedTo<keyof Typed, Typed>>;

const fields = ["name", "timezone", "requestsPerSecond", "keepEventsDays"] as const;

function typedOf({ name, timezone, requestsPerSecond, keepEventsDays }: Organization): Typed {
  return {
    name,
    timezone,
    requestsPerSecond: String(requestsPerSecond),
    keepEventsDays: keepEventsDays === null ? "" : String(keepEventsDays),
  };
}

function Form({ saved }: { saved: Organization }): ReactElement {
  const draft = useDraft(typedOf(saved));
  const client = useQueryClient();
  const tell = useTell();
  const change = useChange("PATCH /api/organization");
  const [isZoneNew, setZoneNew] = useState(false);
  const { changes } = draft;
  const errors = fieldErrors(change.error, fields);
  const field = (name: keyof Typed) => tiedTo(draft, name, errors.of(name));
  const save = () => {
    const { requestsPerSecond: rate, keepEventsDays: kept, ...texts } = changes;
    const body = {
      ...texts,
      ...(rate !== undefined && { requestsPerSecond: Number(rate) }),
      ...(kept !== undefined && { keepEventsDays: kept.trim() === "" ? null : Number(kept) }),
    };
    change.mutate(
      { body },
      {
        onSuccess: (answer) => {
          draft.accept(changes, typedOf(answer));
          if (texts.timezone !== undefined) setZoneNew(true);
          void client.invalidateQueries({ queryKey: sessionQuery.queryKey });
          tell("Organization saved.");
        },
      },
    );
  };
  return (
    <DraftForm
      draft={draft}
      change={change}
      error={errors.rest}
      consequence={<Consequence saved={saved} changes={changes} />}
      onSave={save}
    >
      <Rebuilding isExpected={isZoneNew} />
      <Panel title="General">
        <div className="grid max-w-2xl gap-5 sm:grid-cols-2">
          <Input label="Name" {...field("name")} required maxLength={200} />
          <Timezone field={field("timezone")} />
        </div>
      </Panel>
      <Limits saved={saved} field={field} />
      <p className="text-sm text-soft">
        Organization {saved.id}, created <Instant instant={saved.createdAt} />.
      </p>
    </DraftForm>
  );
}

const zones = Intl.supportedValuesOf("timeZone");

function Timezone({ field }: { field: TiedField }): ReactElement {
  const nowMs = useNowMs();
  return (
    <Input
      label="Timezone"
      suggestions={zones}
      {...field}
      required
      spellCheck={false}
      autoComplete="off"
      help={nowThere(field.value.trim(), nowMs)}
    />
  );
}

/** Day and time in a timezone, if the browser knows it. */
function nowThere(timezone: string, nowMs: number): string {
  try {
    const now = timeText(new Date(nowMs).toISOString(), timezone, "short");
    return `There it is ${now} on ${dayText(todayIn(timezone, nowMs), "long")}.`;
  } catch {
    return "An IANA timezone, e.g. Europe/Paris";
  }
}

interface LimitsProps {
  readonly saved: Organization;
  readonly field: (name: keyof Typed) => TiedField;
}

function Limits({ saved, field }: LimitsProps): ReactElement {
  return (
    <Panel title="Limits">
      <div className="grid max-w-2xl gap-5 sm:grid-cols-2">
        <Input
          label="Requests per second of each project token"
          type="number"
          min={1}
          max={saved.maxRequestsPerSecond}
          required
          {...field("requestsPerSecond")}
          help={`At most ${numbers.count(saved.maxRequestsPerSecond)} in this installation. Faster requests are rejected with 429 and a Retry-After header. In batches: ${numbers.count(saved.itemsPerSecond)} items per second.`}
        />
        <Input
          label="Days that raw events are kept"
          type="number"
          min={1}
          max={36_500}
          placeholder="For ever"
          {...field("keepEventsDays")}
          help="Leave empty to keep them for ever. Figures of older days stay."
        />
      </div>
    </Panel>
  );
}

function Consequence({ saved, changes }: { saved: Organization; changes: Partial<Typed> }): ReactElement {
  const { timezone, keepEventsDays: kept } = changes;
  const isShorter = Number(kept) > 0 && (saved.keepEventsDays ?? Number.POSITIVE_INFINITY) > Number(kept);
  const texts = [
    timezone !== undefined &&
      "All days are computed again in the new timezone, in the background. This page shows the progress.",
    isShorter && `Raw events older than ${kept} days are deleted, which cannot be undone.`,
  ].filter((text) => text !== false);
  return <>{texts.length > 0 ? texts.join(" ") : "Changes apply as soon as they are saved."}</>;
}
