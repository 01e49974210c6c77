/** Creating another organization. */
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
  const creation = usePersonalChange("POST /api/organizations");
  const errors = fieldErrors(creation.error, ["name", "timezone"]);
  const send = () =>
    creation.mutate(
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
      <InlineForm action="Create organization" isBusy={creation.isPending} onSend={send}>
        <Input
          label="Organization name"
          value={name}
          onChange={({ target }) => setName(target.value)}
          required
          maxLength={200}
          help="It has its own data, members and settings."
          error={errors.of("name")}
        />
        <Input
          label="Timezone"
          value={timezone}
          onChange={({ target }) => setTimezone(target.value)}
          required
          spellCheck={false}
          help="Days in figures begin and end in this timezone."
          error={errors.of("timezone")}
        />
      </InlineForm>
      <FormError error={errors.rest} />
    </div>
  );
}
