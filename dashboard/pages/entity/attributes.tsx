/** The attributes of an account. */
import type { ReactElement } from "react";
import type { Asked, Reads } from "../../api/query.ts";
import { useOrganization } from "../../app/session.ts";
import { MemberName } from "../../parts/member-name.tsx";
import { SaidByPage } from "../../parts/said-by-page.tsx";
import { FigurePanel, Loading } from "../../parts/states.tsx";
import { Tree } from "../../parts/tree.tsx";
import { attributeName } from "../../text/attribute-names.ts";

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
      {({ traits, saidByPages }) =>
        Object.keys(traits).length === 0 ? (
          <p className="text-soft">None were sent.</p>
        ) : (
          <Tree
            values={traits}
            timezone={timezone}
            named={namedOf(traits)}
            beside={(trait) => <SaidByPage fields={saidByPages} field={`traits.${trait}`} />}
          />
        )
      }
    </FigurePanel>
  );
}

/** The attributes that have a meaning. */
function namedOf({ owner }: Readonly<Record<string, unknown>>) {
  return {
    owner: {
      name: attributeName("owner"),
      ...(typeof owner === "string" && owner !== "" && { value: <MemberName text={owner} /> }),
    },
    renewsAt: { name: attributeName("renewsAt") },
    contractValue: { name: attributeName("contractValue") },
  };
}
