/** Admits and stores the requests of the write API and of sources, after authorization. */
import { errorMessages } from "../../contract/errors.ts";
import { isJsonObject } from "../../contract/json.ts";
import type { SourceName, SourceOutcome } from "../../contract/sources.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Arrival } from "./admission/admit-event.ts";
import { admitBatch, type ParsedBatch } from "./admission/batch.ts";
import { type Invalid, isInvalid, type ParsedBody, parseBody, type Turn } from "./admission/json.ts";
import type { SourcedItem } from "./admission/sourced.ts";
import { BulkLoads } from "./bulk-loads.ts";
import { type Admitted, isStored, type Outcome, type SourcedOutcome } from "./decide/requests.ts";
import { GroupCommit } from "./group-commit.ts";
import { admitIdentify } from "./identify.ts";
import { type Endpoint, type NoteTaker, noteAdmitted, noteInvalid, noteOutcome } from "./notes.ts";
import { type IntakeLimits, Room } from "./room.ts";
import { SourceCounts } from "./source-counts.ts";
import { SourcedRequests, type SourcedWatcher } from "./source-parts.ts";
import { admitTrack } from "./track.ts";
import { IngestionWarnings, type Noted } from "./warnings.ts";
import type { WatchedRequest } from "./watched-request.ts";

export class Intake {
  readonly room: Room;
  readonly #nowMs: () => number;
  readonly #commits: GroupCommit;
  readonly #sourced: SourcedRequests;
  readonly #warnings: IngestionWarnings;
  readonly #sources: SourceCounts;
  readonly #bulkLoads: BulkLoads;
  /** Requests that are admitted in several steps. */
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(ledger: Ledger, dataDir: string, limits: IntakeLimits, nowMs: () => number) {
    this.room = new Room(ledger, dataDir, limits, nowMs);
    this.#nowMs = nowMs;
    this.#warnings = new IngestionWarnings(ledger.warnings);
    this.#sources = new SourceCounts(ledger.sources);
    this.#bulkLoads = new BulkLoads(ledger);
    this.#commits = new GroupCommit(ledger, nowMs, (ofPast) => this.#bulkLoads.stored(ofPast, nowMs()));
    this.#sourced = new SourcedRequests(this.#commits);
  }

  /** Counts ingestion warnings. */
  get warnings(): NoteTaker {
    return this.#warnings;
  }

  /** The sender's message while writes are rejected. Undefined while writes are accepted. */
  get closedBecause(): string | undefined {
    return this.#commits.isFull ? errorMessages.catchingUp : this.room.closedBecause;
  }

  /** The same for one organization, whose own queue may be full. */
  closedFor(organization: number): string | undefined {
    const isFull = this.#commits.isFullFor(organization);
    return this.closedBecause ?? (isFull ? errorMessages.organizationHeld : undefined);
  }

  /** Whether the last writes failed: the disk is full, or it failed, and then a restart is needed. */
  get isFailing(): boolean {
    return this.#commits.isFailing;
  }

  /** Stores an identify. Resolves when it is on disk or rejected. The promise rejects when the ledger
   * failed. */
  identify(body: Uint8Array, arrival: Arrival, watched?: WatchedRequest): Promise<Outcome> {
    return this.#store("identify", body, arrival, admitIdentify, watched);
  }

  /** Stores an event. Resolves when it is on disk or rejected. The promise rejects when the ledger failed. */
  track(body: Uint8Array, arrival: Arrival, watched?: WatchedRequest): Promise<Outcome> {
    return this.#store("track", body, arrival, admitTrack, watched);
  }

  /** Stores the valid items of a batch in their order, in one commit, and resolves with an outcome for each
   * item. Rejects when the ledger failed. Then no item is stored.
   * @param turn awaited between the steps of admission */
  batch(
    batch: ParsedBatch,
    arrival: Arrival,
    turn: Turn,
    watched?: WatchedRequest,
  ): Promise<readonly Outcome[]> {
    return this.#untilStored(this.#batch(batch, arrival, turn, watched));
  }

  async #batch(
    batch: ParsedBatch,
    arrival: Arrival,
    turn: Turn,
    watched: WatchedRequest | undefined,
  ): Promise<readonly Outcome[]> {
    const warnings = this.#noteTaker(watched);
    const items: (Admitted | Invalid)[] = [];
    for (const slice of admitBatch(batch, arrival)) {
      items.push(...slice);
      await turn();
    }
    const good = items.filter((item): item is Admitted => !isInvalid(item));
    const outcomes = good.length === 0 ? [] : await this.#commits.submitAll(good, batch.text.length);
    let next = 0;
    return items.map((item, index) => {
      const sent = batch.items[index];
      const body = isJsonObject(sent) ? sent : {};
      if (isInvalid(item)) {
        noteInvalid(warnings, "batch", arrival, item.invalid, body);
        watched?.item(sent, item, { index, items: items.length });
        this.#countOfApi(arrival, item);
        return item;
      }
      const outcome = outcomes[next];
      next += 1;
      if (outcome === undefined) throw new Error("an item of the batch was not decided");
      noteAdmitted(warnings, "batch", item, body);
      noteOutcome(warnings, "batch", item, outcome);
      this.#countOfApi(arrival, outcome);
      watched?.item(sent, outcome, { index, items: items.length });
      return outcome;
    });
  }

  /**
   * Stores the items of a connected source in their order. Items of a person who is not identified yet are
   * held (see source-parts.ts). @param source its name, under which warnings are counted
   */
  sourced(
    items: readonly SourcedItem[],
    arrival: Arrival,
    source = "sources",
    watcher?: SourcedWatcher,
  ): Promise<readonly SourcedOutcome[]> {
    const storing = this.#sourced.store(items, arrival, source, this.#noteTaker(watcher), (index, outcome) =>
      watcher?.decided(index, outcome),
    );
    return this.#untilStored(storing);
  }

  /** Has `settled` wait for a request that is admitted in several steps. */
  #untilStored<Outcomes>(storing: Promise<Outcomes>): Promise<Outcomes> {
    const stored = storing.finally(() => this.#underWay.delete(stored));
    this.#underWay.add(stored);
    return stored;
  }

  async #store(
    endpoint: Endpoint,
    bytes: Uint8Array,
    arrival: Arrival,
    admit: (body: ParsedBody, arrival: Arrival) => Admitted | Invalid,
    watched: WatchedRequest | undefined,
  ): Promise<Outcome> {
    const body = parseBody(bytes);
    const admitted = isInvalid(body) ? body : admit(body, arrival);
    const sent = isInvalid(body) ? undefined : body.value;
    if (isInvalid(admitted)) {
      noteInvalid(this.#warnings, endpoint, arrival, admitted.invalid, sent);
      watched?.item(sent, admitted);
      this.#countOfApi(arrival, admitted);
      return admitted;
    }
    noteAdmitted(this.#noteTaker(watched), endpoint, admitted, sent ?? {});
    const outcome = await this.#commits.submit(admitted, bytes.length);
    noteOutcome(this.#noteTaker(watched), endpoint, admitted, outcome);
    watched?.item(sent, outcome);
    this.#countOfApi(arrival, outcome);
    return outcome;
  }

  /** The write API is counted like a source. Imports are not counted: they bring past events within an
   * hour. */
  #countOfApi({ organization, receivedAtMs: atMs }: Arrival, decided: Outcome): void {
    const outcome = isStored(decided) ? "accepted" : decided === "duplicate" ? "duplicate" : "rejected";
    this.#sources.note({ organization, source: "api", atMs, outcome });
  }

  /** Counts an item of a connected source, or a body of which nothing could be read. */
  countSourced(source: SourceName, organization: number, outcome: SourceOutcome): void {
    this.#sources.note({ organization, source, atMs: this.#nowMs(), outcome });
  }

  /** Passes warnings to the counts and to the live view. */
  #noteTaker(watched: NoteTaker | undefined): NoteTaker {
    if (watched === undefined) return this.#warnings;
    return {
      note: (noted) => {
        this.#warnings.note(noted);
        watched.note(noted);
      },
    };
  }

  /** Counts a message that was taken in another way than it was sent. */
  noteTaken(endpoint: Endpoint, organization: number, kind: Noted["kind"], detail: string): void {
    this.#warnings.note({ organization, atMs: this.#nowMs(), kind, endpoint, detail });
  }

  /** Counts a request that was rejected before its body was parsed. */
  noteRefused(
    endpoint: Endpoint,
    organization: number,
    kind: "refused_validation" | "rate_limited",
    message: string,
  ): void {
    const detail = kind === "rate_limited" ? null : message;
    this.#warnings.note({ organization, atMs: this.#nowMs(), kind, endpoint, detail, message });
  }

  /** Over how many nodes requests are spread. */
  shareOver(nodes: number): void {
    this.#bulkLoads.shareOver(nodes);
  }

  /** Writes the counted warnings down. Called every few seconds. */
  recordWarnings(): Promise<void> {
    return this.#warnings.flush();
  }

  /** Writes the counts of sources down, and which organizations load their past. Called every few seconds. */
  async recordSources(): Promise<void> {
    await Promise.all([this.#sources.flush(), this.#bulkLoads.flush()]);
  }

  /** Writes the warnings that name a user down, so that they can be deleted, and forgets newer ones. */
  async forgetWarningsOf(organization: number, userId: string): Promise<void> {
    await this.#warnings.flush();
    this.#warnings.forgetUser(organization, userId);
  }

  /** Resolves when everything that was admitted before the call is on disk, or has failed. */
  async settled(): Promise<void> {
    await Promise.all([this.#commits.settled(), Promise.allSettled(this.#underWay)]);
  }
}
