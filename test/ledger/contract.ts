/**
 * The contract of every ledger, whichever database is behind it. Each store's test file calls this with its
 * own way of opening a ledger in a folder. Opening the same folder again finds the committed data.
 */
import { afterEach, beforeEach, describe } from "bun:test";
import { accountErasuresContract } from "./contract-account-erasures.ts";
import { alertListsContract } from "./contract-alert-lists.ts";
import { alertRulesContract } from "./contract-alert-rules.ts";
import { askedArmsContract } from "./contract-asked-arms.ts";
import { auditContract } from "./contract-audit.ts";
import { changesContract, commitsContract } from "./contract-changes.ts";
import { chunksContract } from "./contract-chunks.ts";
import { clockAheadContract } from "./contract-clock-ahead.ts";
import { deletionsContract } from "./contract-deletions.ts";
import { deliveriesContract } from "./contract-deliveries.ts";
import { destinationsContract } from "./contract-destinations.ts";
import { erasuresContract } from "./contract-erasures.ts";
import { gatheredAlertsContract } from "./contract-gathered-alerts.ts";
import { heldEventsContract } from "./contract-held-events.ts";
import { holdOutResultsContract } from "./contract-hold-out-results.ts";
import { holdOutsContract } from "./contract-hold-outs.ts";
import { importedWorkContract } from "./contract-imported-work.ts";
import { importerContract, importsContract } from "./contract-imports.ts";
import { inboxContract, rejectedEventsOfInboxContract } from "./contract-inbox.ts";
import { lastingIdsContract } from "./contract-lasting-ids.ts";
import { linksContract } from "./contract-links.ts";
import { notedDeliveriesContract } from "./contract-noted-deliveries.ts";
import { operationContract } from "./contract-operation.ts";
import { organizationsContract, tokensContract } from "./contract-organizations.ts";
import { peopleStoreContract } from "./contract-people.ts";
import { personDataContract } from "./contract-person-data.ts";
import { rowsContract } from "./contract-rows.ts";
import { ruleDeletionsContract } from "./contract-rule-deletions.ts";
import { ruleStepsContract } from "./contract-rule-steps.ts";
import { segmentsContract } from "./contract-segments.ts";
import { settingsContract } from "./contract-settings.ts";
import { sourcesContract } from "./contract-sources.ts";
import { transactContract } from "./contract-transact.ts";
import { sourceSettingsContract, viewsContract } from "./contract-views.ts";
import { waitingMessagesContract } from "./contract-waiting-messages.ts";
import { workContract } from "./contract-work.ts";
import { LedgerUnderTest, type OpenBeside, type OpenLedger } from "./ledger-under-test.ts";

/** Parts about what each database has its own implementation of: transactions, the inbox, erasures, message
 * ids, held events. */
const ownParts = {
  transact: transactContract,
  inbox: inboxContract,
  rejectedEventsOfInbox: rejectedEventsOfInboxContract,
  operation: operationContract,
  erasures: erasuresContract,
  accountErasures: accountErasuresContract,
  deletions: deletionsContract,
  importer: importerContract,
  lastingIds: lastingIdsContract,
  heldEvents: heldEventsContract,
  links: linksContract,
  commits: commitsContract,
} as const;

/** Parts about stores that are written once for both (server/ledger/stores). */
const storeParts = {
  rows: rowsContract,
  organizations: organizationsContract,
  tokens: tokensContract,
  imports: importsContract,
  settings: settingsContract,
  people: peopleStoreContract,
  sources: sourcesContract,
  views: viewsContract,
  destinations: destinationsContract,
  deliveries: deliveriesContract,
  notedDeliveries: notedDeliveriesContract,
  clockAhead: clockAheadContract,
  sourceSettings: sourceSettingsContract,
  work: workContract,
  importedWork: importedWorkContract,
  segments: segmentsContract,
  alertRules: alertRulesContract,
  alertLists: alertListsContract,
  ruleDeletions: ruleDeletionsContract,
  gatheredAlerts: gatheredAlertsContract,
  waitingMessages: waitingMessagesContract,
  ruleSteps: ruleStepsContract,
  holdOuts: holdOutsContract,
  holdOutResults: holdOutResultsContract,
  askedArms: askedArmsContract,
  personData: personDataContract,
  chunks: chunksContract,
  audit: auditContract,
  changes: changesContract,
} as const;

const parts = { ...ownParts, ...storeParts } as const;

export type ContractPart = keyof typeof parts;
export const partsOfDatabases = Object.keys(ownParts) as readonly ContractPart[];
export const partsOfStores = Object.keys(storeParts) as readonly ContractPart[];
/** The parts of a whole ledger. */
export const allParts = [...partsOfDatabases, ...partsOfStores];

/** Declares the tests of these parts of the contract. */
export function ledgerContract(
  store: string,
  open: OpenLedger,
  beside: OpenBeside,
  has: readonly ContractPart[],
): void {
  describe(`a ledger on ${store}`, () => {
    const subject = new LedgerUnderTest(open, beside);
    beforeEach(() => subject.start());
    afterEach(() => subject.stop());
    for (const part of has) parts[part](subject);
  });
}
