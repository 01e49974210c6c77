import { below } from "../api/base.ts";

/** The service's address, as people and applications reach it, without a slash at its end. */
export function serviceAddress(): string {
  return location.origin + below("");
}
