/** The link that downloads what is shown as CSV. */
import type { ReactElement } from "react";
import { buttonClass } from "../form/button.tsx";
import { Icon } from "../icons.tsx";

/** @param address see `csvAddress` */
export function CsvLink({ address }: { address: string }): ReactElement {
  return (
    <a href={address} download className={buttonClass("plain", true)}>
      <Icon name="download" />
      CSV
    </a>
  );
}
