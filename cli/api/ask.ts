/**
 * Asks routes of the JSON API for an organization, with the rights of an owner. The running server answers on
 * its sockets. While none runs, and for routes of intake in a cluster, the command answers itself, by the
 * same handlers.
 */
import { analysisRoutes } from "../../contract/api/analysis-routes.ts";
import type { RouteAnswer, RouteName } from "../../contract/api/routes.ts";
import type { ApiErrorAnswer } from "../../contract/write-api.ts";
import { type Asked, askedBy, type SentTo } from "../../server/http/api/asked.ts";
import { headersOfCaller } from "../../server/http/api/caller.ts";
import { startingHeader } from "../../server/http/port/answers.ts";
import { RouteTable } from "../../server/http/port/route-table.ts";
import { minFreeDiskBytes } from "../../server/intake/room.ts";
import { commandLine } from "../../server/ledger/audit.ts";
import type { Ledger } from "../../server/ledger/ledger.ts";
import type { Organization } from "../../server/ledger/stores/organization-rows.ts";
import { roleRights } from "../../server/members/rights.ts";
import { CallFailed, fetchSocket, type Peer, Unreachable } from "../../server/process/control.ts";
import { socketPath } from "../../server/process/sockets.ts";
import { systemTime } from "../../server/process/time.ts";
import type { Mail } from "../../server/sending/mail.ts";
import { withOwnAnalysis } from "../analysis.ts";
import { type Installation, organizationOf, withInstallation } from "../installation.ts";

/** The API of an organization of an open installation. */
export interface Api {
  readonly installation: Installation;
  readonly organization: Organization;
  /** Sends a request, and reads the answer while the engine that gives it is open.
   * @throws CallFailed with the API's message, Refusal as `withOwnAnalysis` */
  send<Result>(asked: Asked, read: (answer: Response) => Promise<Result>): Promise<Result>;
  /** Asks a route. @returns the answer, undefined of a route without one @throws as `send` */
  ask<Name extends RouteName>(name: Name, sent?: SentTo<Name>): Promise<RouteAnswer<Name>>;
}

const ofAnalysis = new RouteTable(analysisRoutes);

/** Opens the installation for the time of `work`, which may ask the API.
 * @param name of the organization; it may be left out where there is one
 * @throws Refusal as `organizationOf` */
export function withApi<Result>(
  name: string | undefined,
  work: (api: Api) => Promise<Result>,
): Promise<Result> {
  return withInstallation(async (installation) =>
    work(apiOf(installation, await organizationOf(installation.ledger, name))),
  );
}

/** The API of an organization of an open installation. */
export function apiOf(installation: Installation, organization: Organization): Api {
  const send: Api["send"] = ({ method, path, body }, read) => {
    const init = { method, headers: headersFor(organization), ...(body !== undefined && { body }) };
    const answered = async (response: Response) => read(await successful(response));
    const [pathname = ""] = path.split("?");
    return ofAnalysis.find(method, pathname) === undefined
      ? askIntake(installation, path, init).then(answered)
      : askAnalysis(installation, path, init, answered);
  };
  const ask: Api["ask"] = (name, sent = {}) =>
    // A route with an answer has a body, which its handler has checked by its type.
    send(askedBy(name, sent), async (answer) =>
      answer.status === 204 ? undefined : JSON.parse(await answer.text()),
    );
  return { installation, organization, send, ask };
}

/** The headers that name a command as the caller of a process of the service. */
function headersFor({ id }: Organization): Record<string, string> {
  return {
    ...headersOfCaller({ organization: id, actor: commandLine, rights: roleRights.owner }),
    "Content-Type": "application/json",
  };
}

async function successful(response: Response): Promise<Response> {
  if (response.ok) return response;
  const { message } = (await response.json()) as ApiErrorAnswer;
  throw new CallFailed(message);
}

interface Init {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
}

async function askAnalysis<Result>(
  installation: Installation,
  path: string,
  init: Init,
  read: (answer: Response) => Promise<Result>,
): Promise<Result> {
  const { analysis: running, ledger } = installation;
  if (running !== undefined) {
    return read(await onceStarted(() => running.fetch(path, { ...init, timeout: false })));
  }
  return withOwnAnalysis(installation, async (started, log) => {
    // Loaded here only, as the handlers below are: a command that a server answers starts in half the time.
    const { answerAnalysis } = await import("../../server/between/analysis-routes.ts");
    const { Registry } = await import("prom-client");
    const parts = { ledger, registry: new Registry(), log, nowMs: systemTime.nowMs };
    return read(await answerAnalysis(parts, started, new Request(`http://analysis${path}`, init)));
  });
}

/** A service that has just started, or whose analysis has died, answers within seconds. */
const startingPatienceMs = 10_000;

async function onceStarted(ask: () => Promise<Response>): Promise<Response> {
  const deadlineMs = performance.now() + startingPatienceMs;
  while (true) {
    const isLast = performance.now() > deadlineMs;
    try {
      const response = await ask();
      if (isLast || response.headers.get(startingHeader) === null) return response;
    } catch (error) {
      if (isLast || !(error instanceof Unreachable && error.isUnsent)) throw error;
    }
    await Bun.sleep(100);
  }
}

function askIntake(installation: Installation, path: string, init: Init): Promise<Response> {
  const { config, own } = installation;
  if (own === undefined) return fetchSocket(socketPath(config.dataDir, "control"), path, init);
  // The answer is read before the engine that gave it is closed.
  const whole = async (response: Response) => new Response(await response.bytes(), response);
  const fetch: Peer["fetch"] = (asked) =>
    askAnalysis(installation, asked, { method: "GET", headers: init.headers }, whole);
  return answerItself(own, config, { fetch }, new Request(`http://intake${path}`, init));
}

/** The service sends messages that are due within a second of its start. Mails with a link are sent by the
 * command. */
async function answerItself(
  ledger: Ledger,
  config: Installation["config"],
  analysis: Peer,
  request: Request,
): Promise<Response> {
  const { answerCommand } = await import("../../server/features/command-api.ts");
  const { Intake } = await import("../../server/intake/intake-service.ts");
  const { sendMail } = await import("../../server/sending/mail.ts");
  const { nowMs } = systemTime;
  const room = { maxBacklogBytes: config.inboxMaxBytes, minFreeDiskBytes };
  const intake = new Intake(ledger, config.dataDir, room, nowMs);
  await intake.room.check();
  const outbox = {
    settings: { exceptions: config.privateDestinations, mail: config.mail },
    sendDue: async () => undefined,
    mail: (mail: Mail) => sendMail(config.mail, mail),
  };
  const address = () => config.publicUrl;
  const memory = { forget: () => undefined, recordUse: async () => undefined };
  const parts = { ledger, intake, analysis, outbox, address, nowMs, ...memory };
  const answer = await answerCommand(parts, request);
  await intake.recordWarnings();
  return answer;
}
