/** The attributes of an account. */
import type { ReactElement } from "react";
import type { Asked, Reads } from "../../api/query.ts";
import { useOrganization } from "../../app/session.ts";
import { FigurePanel, Loading } from "../../parts/states.tsx";
import { Tree } from "../../parts/tree.tsx";

export function AttributesPanel({
  asked,
}: {
  asked: Asked<Reads["/api/accounts/:accountId"]["answer"]>;
}): ReactElement {
  const { timezone } = useOrganization();
  return (
    <FigurePanel
      title="Attributes"
      note="As last sent by your application."
      asked={asked}
      loading={<Loading rows={6} />}
    >
      {({ traits }) =>
        Object.keys(traits).length === 0 ? (
          <p className="text-soft">None were sent.</p>
        ) : (
          <Tree values={traits} timezone={timezone} />
        )
      }
    </FigurePanel>
  );
}
