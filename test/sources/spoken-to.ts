/** An intake, its ledger and a loader for the messages of a connected source, without a server. */

import { join } from "node:path";
import { Zone } from "../../server/calendar/zone.ts";
import { features } from "../../server/features/features.ts";
import type { SourcedItem, SourcedTrack } from "../../server/intake/admission/sourced.ts";
import { Intake } from "../../server/intake/intake-service.ts";
import { minFreeDiskBytes } from "../../server/intake/room.ts";
import { settingUp } from "../../server/ledger/audit.ts";
import type { Ledger } from "../../server/ledger/ledger.ts";
import { openPostgresLedger } from "../../server/ledger/postgres/ledger.ts";
import { openSqliteLedger } from "../../server/ledger/sqlite/open.ts";
import { systemTime } from "../../server/process/time.ts";
import { type ExportTable, exportTable } from "../../server/warehouse/copies/export.ts";
import { Loader } from "../../server/warehouse/load/loader.ts";
import { checkOrganization } from "../../server/warehouse/upkeep/check.ts";
import { enginesOf } from "../engines.ts";
import type { WarehouseUnderTest } from "../warehouse/support.ts";

export const zone = new Zone("Europe/Paris");
export const nowMs = Date.UTC(2026, 4, 17, 12);

export class SpokenTo {
  readonly ledger: Ledger;
  readonly #subject: WarehouseUnderTest;
  readonly #intake: Intake;
  readonly #loader: Loader;

  private constructor(subject: WarehouseUnderTest, ledger: Ledger) {
    this.ledger = ledger;
    this.#subject = subject;
    this.#intake = new Intake(
      ledger,
      subject.folder,
      { maxBacklogBytes: 1024 ** 3, minFreeDiskBytes },
      () => nowMs,
    );
    this.#loader = new Loader({ time: systemTime, inbox: ledger.inbox, warehouse: subject.warehouse });
  }

  static async open(subject: WarehouseUnderTest): Promise<SpokenTo> {
    const engines = await enginesOf(subject.folder);
    const clock = () => nowMs;
    const ledger =
      engines === undefined
        ? await openSqliteLedger({ features, file: join(subject.folder, "ledger.sqlite"), clock })
        : await openPostgresLedger({ features, url: engines.DATABASE_URL, clock });
    const spokenTo = new SpokenTo(subject, ledger);
    await spokenTo.#loader.replay();
    spokenTo.#loader.start();
    return spokenTo;
  }

  async close(): Promise<void> {
    await this.#loader.stop();
    await this.ledger.close();
  }

  /** An organization of its own, and a function that sends a source's messages to it. */
  async organization(name: string) {
    const { id } = await this.ledger.organizations.create(
      { name, timezone: "Europe/Paris", nowMs },
      settingUp,
    );
    const arrival = { organization: id, zone, receivedAtMs: nowMs, idempotencyKey: null };
    const encoder = new TextEncoder();
    const intake = this.#intake;
    return {
      id,
      say: (...items: readonly SourcedItem[]) => intake.sourced(items, arrival, "segment"),
      identify: (body: object) => intake.identify(encoder.encode(JSON.stringify(body)), arrival),
      track: (body: object) => intake.track(encoder.encode(JSON.stringify(body)), arrival),
      warnings: async () => {
        await intake.recordWarnings();
        const all = await this.ledger.warnings.list(id, 100);
        return all.map(({ kind, endpoint, detail }) => [kind, endpoint, detail]).sort();
      },
    };
  }

  async loaded(): Promise<void> {
    await this.#loader.drain((await this.ledger.inbox.backlog()).newestInboxId);
  }

  async differences(organization: number) {
    await this.loaded();
    const dayCounts = await this.ledger.dayCounts(organization);
    const populations = await this.ledger.populations(organization);
    return checkOrganization(this.#subject.warehouse, organization, { dayCounts, populations });
  }

  async exported(organization: number, table: ExportTable): Promise<Record<string, unknown>[]> {
    const request = { organization, table, format: "jsonl" } as const;
    const chunks = await Array.fromAsync(exportTable(this.#subject.warehouse, request));
    const lines = Buffer.concat(chunks).toString().split("\n").slice(0, -1);
    return lines.map((line) => JSON.parse(line));
  }
}

export const track = (some: Partial<SourcedTrack>): SourcedTrack => ({
  type: "track",
  event: "opened",
  properties: {},
  isActivity: true,
  atMs: nowMs,
  messageId: null,
  ...some,
});

export const identify = (userId: string, some: object = {}): SourcedItem => ({
  type: "identify",
  userId,
  traits: {},
  atMs: nowMs,
  messageId: null,
  ...some,
});
