/** One item of the live view: the payload, the answer, and a curl command. */
import type { ReactElement } from "react";
import type { LiveItem } from "../../../contract/live.ts";
import { serviceAddress } from "../../app/service-address.ts";
import { useOrganization } from "../../app/session.ts";
import { Code } from "../../parts/copy.tsx";
import { Dialog } from "../../parts/form/dialog.tsx";
import { Icon } from "../../parts/icons.tsx";
import { numbers, timeText } from "../../text/format.ts";
import { curlOf, readable } from "./curl.ts";
import { Facts, UserId } from "./facts.tsx";
import { noteOf, OutcomeBadge, titleOf } from "./live-row.tsx";
import { warningWords } from "./warning-words.tsx";

const outcomeMeanings = {
  held: "The visitor is not identified yet. The event is held for up to 30 days, until an identify or alias with this id.",
  ignored: "Rekindle does not store this message type.",
  duplicate: "A message with the same id arrived within 24 hours. It is stored once.",
} as const;

export function LiveDialog({
  item,
  labelOf,
  onClose,
}: {
  item: LiveItem;
  labelOf: (event: string) => string;
  onClose: () => void;
}): ReactElement {
  const { timezone } = useOrganization();
  const { at, endpoint, path, userId, error, status, answer, batch, payload, token, warnings } = item;
  const source = endpoint === path.slice(1) ? null : endpoint;
  const isKnown = item.outcome === "accepted" || item.outcome === "duplicate";
  const curl = curlOf(item, serviceAddress());
  return (
    <Dialog isOpen onClose={onClose} title={titleOf(item, labelOf)} isWide>
      <div className="grid gap-5">
        {error !== null && (
          <p className="flex gap-2 rounded border border-at-risk bg-at-risk-wash px-3 py-2 text-at-risk">
            <Icon name="warning" className="mt-1" />
            <span>
              <b className="font-medium">
                {error.statusCode} {error.name}
              </b>
              <br />
              {error.message}
            </span>
          </p>
        )}
        {item.outcome !== "accepted" && item.outcome !== "rejected" && (
          <p className="rounded border border-line bg-sunk px-3 py-2">
            {item.ignoredBecause ?? outcomeMeanings[item.outcome]}
          </p>
        )}
        {warnings.map((warning) => (
          <p key={noteOf(warning)} className="rounded border border-watch bg-watch-wash px-3 py-2 text-watch">
            <b className="font-medium">{noteOf(warning)}</b>
            <br />
            {warningWords[warning.kind].meaning} {warningWords[warning.kind].advice}
          </p>
        ))}
        <Facts
          facts={[
            [
              "Outcome",
              <OutcomeBadge key="outcome" outcome={item.outcome} status={error?.statusCode ?? status} />,
            ],
            ["Arrived", `${timeText(at, timezone)}, ${timezone.replaceAll("_", " ")}`],
            ["Source", source],
            ["Request", `POST ${path}${placeOf(batch)}`],
            ["User", <UserId key="user" userId={userId} isKnown={isKnown} />],
            ["Project token", token && `${token.name}, ends in ${token.lastFour}`],
            ["Idempotency-Key", item.idempotencyKey],
          ]}
        />
        <section>
          <h3 className="mb-1">Payload</h3>
          {payload === null ? (
            <p className="text-soft">The request was rejected before its body was read.</p>
          ) : (
            <Code label="Payload" text={readable(payload)} />
          )}
          {payload !== null && payload.length < item.payloadCharacters - 4 && curl === undefined && (
            <p className="mt-1 text-sm text-soft">
              Only the beginning is shown. The payload has {numbers.count(item.payloadCharacters)} characters.
            </p>
          )}
        </section>
        <section>
          <h3 className="mb-1">Answer: {status}</h3>
          <Code label="Answer to the sender" text={readable(answer)} />
        </section>
        {curl !== undefined && (
          <section>
            <h3 className="mb-1">Send it again</h3>
            <p className="mb-2 text-sm text-soft">Replace rk-… with your project token.</p>
            <Code label="The request as a curl command" text={curl} />
          </section>
        )}
      </div>
    </Dialog>
  );
}

function placeOf(batch: LiveItem["batch"]): string {
  if (batch === null) return "";
  return `, item ${numbers.count(batch.index + 1)} of ${numbers.count(batch.items)}: index ${batch.index} in the answer`;
}
