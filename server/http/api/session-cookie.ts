/** The cookies of a session and of a browser, and where a request that carries it may come from. */
import { errorMessages } from "../../../contract/errors.ts";
import { peopleLimits } from "../../../contract/member-limits.ts";
import { deviceCookie, sessionCookie, sessionHeader } from "../../../contract/members.ts";
import { sessionSeconds } from "../../members/sign-in.ts";
import { failure } from "../port/answers.ts";

/** The session cookie of a request. */
export interface SentCookie {
  /** Undefined without a cookie, and with two: another host of the same domain can set a cookie that comes
   * first, and the person would work in a stranger's account. */
  readonly secret: string | undefined;
  /** Of the browser: see server/members/devices.ts. */
  readonly device: string | undefined;
  /** How the service is reached, which decides the cookies' names and their path. */
  readonly reached: Reached;
}

export interface Reached {
  /** By https, where only the cookie counts that no other host can set. */
  readonly isSecure: boolean;
  /** The path of PUBLIC_URL: empty or `/rekindle`. */
  readonly basePath: string;
}

/** The request's cookies. */
export function sentCookie(request: Request, reached: Reached): SentCookie {
  const pairs = (request.headers.get("cookie") ?? "").split(";").map((pair) => pair.trim());
  const only = (name: string) => {
    const start = `${nameOf(name, reached)}=`;
    const ours = pairs.filter((pair) => pair.startsWith(start));
    return ours.length === 1 ? ours[0]?.slice(start.length) || undefined : undefined;
  };
  return { secret: only(sessionCookie), device: only(deviceCookie), reached };
}

/** By https a name that no other host can set. Browsers take such a name for the path / alone: below another
 * one, other applications of this host shall not be sent the session, and __Secure- is the strictest name
 * that is left. */
function nameOf(cookie: string, { isSecure, basePath }: Reached): string {
  if (!isSecure) return cookie;
  return basePath === "" ? `__Host-${cookie}` : `__Secure-${cookie}`;
}

/** The header that sets the session's cookie, or, without a secret, takes it away. */
export function setSession(secret: string | undefined, reached: Reached): string {
  return setCookie(sessionCookie, secret ?? "", secret === undefined ? 0 : sessionSeconds, reached);
}

/** The header that sets the cookie of a browser. */
export function setDevice(device: string, reached: Reached): string {
  return setCookie(deviceCookie, device, peopleLimits.deviceDays * 86_400, reached);
}

/** Lax, so that a link in a mail opens the dashboard signed in; changes are guarded by `refuseForeign`. */
function setCookie(name: string, value: string, seconds: number, reached: Reached): string {
  return [
    `${nameOf(name, reached)}=${value}`,
    `Path=${reached.basePath || "/"}`,
    "HttpOnly",
    "SameSite=Lax",
    `Max-Age=${seconds}`,
    ...(reached.isSecure ? ["Secure"] : []),
  ].join("; ");
}

/** The answer to a change that another site's page may have sent; undefined for what may pass.
 * @param isSession whether the request counts because of its cookie, which browsers send by themselves */
export function refuseForeign(request: Request, publicUrl: string, isSession: boolean): Response | undefined {
  if (request.method === "GET" || request.method === "HEAD") return undefined;
  const origin = request.headers.get("origin");
  const isOwn = origin === null || isOurs(origin, publicUrl, request.headers.get("host"));
  const isMarked = !isSession || request.headers.get(sessionHeader.name) === sessionHeader.value;
  return isOwn && isMarked ? undefined : failure("forbidden", errorMessages.foreignPage);
}

function isOurs(origin: string, publicUrl: string, host: string | null): boolean {
  if (origin === new URL(publicUrl).origin) return true;
  // A proxy may speak https to the browser and http to us: the host alone is compared.
  return URL.canParse(origin) && host !== null && new URL(origin).host === host.toLowerCase();
}
