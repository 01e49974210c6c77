/** Founding another organization, as its owner. */
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactElement, useState } from "react";
import { usePersonalChange } from "../../api/query.ts";
import { sessionQuery } from "../../app/session.ts";
import { FormError, Input } from "../../parts/form/field.tsx";
import { fieldErrors } from "../../parts/form/form-errors.ts";
import { InlineForm } from "../../parts/form/inline-form.tsx";

export function NewOrganization(): ReactElement {
  const [name, setName] = useState("");
  const [timezone, setTimezone] = useState(Intl.DateTimeFormat().resolvedOptions().timeZone);
  const client = useQueryClient();
  const navigate = useNavigate();
  const found = usePersonalChange("POST /api/organizations");
  const errors = fieldErrors(found.error, ["name", "timezone"]);
  const send = () =>
    found.mutate(
      { name, timezone },
      {
        onSuccess: async ({ id }) => {
          await client.refetchQueries({ queryKey: sessionQuery.queryKey });
          await navigate({ to: "/o/$organization/start", params: { organization: String(id) } });
        },
      },
    );
  return (
    <div className="grid gap-3">
      <h3 className="text-sm">Another organization</h3>
      <InlineForm action="Create organization" isBusy={found.isPending} onSend={send}>
        <Input
          label="Its name"
          value={name}
          onChange={({ target }) => setName(target.value)}
          required
          maxLength={200}
          help="Its data, members and settings are its own."
          error={errors.of("name")}
        />
        <Input
          label="Its timezone"
          value={timezone}
          onChange={({ target }) => setTimezone(target.value)}
          required
          spellCheck={false}
          help="Days of its figures begin and end there."
          error={errors.of("timezone")}
        />
      </InlineForm>
      <FormError error={errors.rest} />
    </div>
  );
}
