/** The link that downloads what is shown as CSV. */
import type { ReactElement } from "react";
import { below } from "../../api/base.ts";
import type { CsvAddress } from "../../api/query.ts";
import { useOrganization } from "../../app/session.ts";
import { buttonClass } from "../form/button.tsx";
import { Icon } from "../icons.tsx";

export function CsvLink({ address }: { address: CsvAddress }): ReactElement {
  return (
    <a href={below(address(useOrganization().id))} download className={buttonClass("plain", true)}>
      <Icon name="download" />
      CSV
    </a>
  );
}
