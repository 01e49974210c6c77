/**
 * Asks routes of the JSON API for an organization, with the rights of an owner. Routes of intake are answered
 * by the running server on its control socket. While none runs, and in a cluster, the command answers them
 * itself, with its own ledger. Routes of analysis are asked as those of figures.
 */
import { analysisRoutes } from "../../contract/api/analysis-routes.ts";
import type { PathNames } from "../../contract/api/route.ts";
import type { RouteAnswer, RouteBody, RouteName } from "../../contract/api/routes.ts";
import { answerCommand } from "../../server/features/command-api.ts";
import { minFreeDiskBytes } from "../../server/intake/commit/room.ts";
import { Intake } from "../../server/intake/intake-service.ts";
import type { Ledger } from "../../server/ledger/ledger.ts";
import type { Organization } from "../../server/ledger/stores/organization-rows.ts";
import { fetchSocket, type Peer } from "../../server/process/control.ts";
import { socketPath } from "../../server/process/sockets.ts";
import { sendMail } from "../../server/sending/mail.ts";
import { type AskInit, answered, figuresOf, headersFor } from "../figures/ask.ts";
import { type Installation, withOrganization } from "../installation.ts";

/** The parts of a request. */
interface Sent<Name extends RouteName> {
  readonly path?: Readonly<Record<PathNames<Name>, string | number>>;
  /** Parameters that are undefined are left out. */
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: RouteBody<Name>;
}

/** The API of an organization. */
export interface Api {
  readonly installation: Installation;
  readonly organization: Organization;
  /** @returns the answer, undefined of a route without one @throws CallFailed with the API's message */
  ask<Name extends RouteName>(name: Name, sent?: Sent<Name>): Promise<RouteAnswer<Name>>;
}

/** Opens the installation for the time of `work`, which may ask the API of the organization of this name. */
export function withApi(name: string, work: (api: Api) => Promise<void>): Promise<void> {
  return withOrganization(name, (installation, organization) => work(apiOf(installation, organization)));
}

/** The API of an organization of an open installation. */
export function apiOf(installation: Installation, organization: Organization): Api {
  const ask: Api["ask"] = async (route, sent = {}) => {
    const response = await askRoute(installation, organization, route, sent);
    // A route with an answer has a body, which its handler has checked by its type.
    return response.status === 204 ? undefined : JSON.parse(await response.text());
  };
  return { installation, organization, ask };
}

function askRoute(
  installation: Installation,
  organization: Organization,
  route: RouteName,
  { path, query = {}, body }: Sent<RouteName>,
): Promise<Response> {
  const [method = "GET", pattern = ""] = route.split(" ");
  const values: Readonly<Record<string, string | number>> = path ?? {};
  const pathname = pattern.replace(/:(\w+)/g, (_, name) => encodeURIComponent(values[name] ?? ""));
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  const address = parameters.size === 0 ? pathname : `${pathname}?${parameters}`;
  const hasBody = method !== "GET" && method !== "DELETE";
  const init: AskInit = { method, ...(hasBody && { body: JSON.stringify(body ?? {}) }) };
  if (route in analysisRoutes) {
    return figuresOf(installation, organization, async (ask) => wholeOf(await ask(address, init)));
  }
  return answered(askIntake(installation, organization, address, init));
}

/** The answer, read before an engine of the command's own is closed. */
async function wholeOf(response: Response): Promise<Response> {
  return new Response(await response.bytes(), { status: response.status });
}

function askIntake(
  installation: Installation,
  organization: Organization,
  address: string,
  init: AskInit,
): Promise<Response> {
  const headers = headersFor(organization);
  const { config, own } = installation;
  if (own === undefined) {
    return fetchSocket(socketPath(config.dataDir, "control"), address, { ...init, headers });
  }
  const fetch: Peer["fetch"] = (path) =>
    figuresOf(installation, organization, async (ask) => wholeOf(await ask(path)));
  return answerItself(own, config, { fetch }, new Request(`http://intake${address}`, { ...init, headers }));
}

/** The service sends messages that are due within a second of its start. Mails that ask for agreement are
 * sent by the command. */
async function answerItself(
  ledger: Ledger,
  config: Installation["config"],
  analysis: Peer,
  request: Request,
): Promise<Response> {
  const room = { maxBacklogBytes: config.inboxMaxBytes, minFreeDiskBytes };
  const intake = new Intake(ledger, config.dataDir, room, Date.now);
  await intake.room.check();
  const outbox = {
    settings: { exceptions: config.privateDestinations, mail: config.mail },
    sendDue: async () => undefined,
    mail: (mail: Parameters<typeof sendMail>[1]) => sendMail(config.mail, mail),
  };
  const address = () => config.publicUrl;
  const answer = await answerCommand({ ledger, intake, analysis, outbox, address, nowMs: Date.now }, request);
  await intake.recordWarnings();
  return answer;
}
