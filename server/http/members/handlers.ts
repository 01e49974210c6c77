/** The handler of every route that intake answers. */
import { alertRuleHandlers } from "./alert-rules.ts";
import { contactHandlers } from "./contacts.ts";
import { destinationHandlers } from "./destinations.ts";
import type { IntakeHandlers } from "./intake-api.ts";
import { liveHandlers } from "./live.ts";
import { organizationHandlers } from "./organization.ts";
import { ownDigestHandlers } from "./own-digest.ts";
import { segmentHandlers } from "./segments.ts";
import { sessionHandlers } from "./session.ts";
import { sourceSettingsHandlers } from "./source-settings.ts";
import { viewHandlers } from "./views.ts";
import { noteHandlers, ownerHandlers, taskHandlers } from "./work.ts";

export const intakeHandlers: IntakeHandlers = {
  ...alertRuleHandlers,
  ...contactHandlers,
  ...destinationHandlers,
  ...liveHandlers,
  ...noteHandlers,
  ...organizationHandlers,
  ...ownDigestHandlers,
  ...ownerHandlers,
  ...segmentHandlers,
  ...sessionHandlers,
  ...sourceSettingsHandlers,
  ...taskHandlers,
  ...viewHandlers,
};
