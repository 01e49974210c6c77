/** Sends a file, and says how far it is: `fetch` does not. */
import { below } from "./base.ts";
import { type ApiFailure, failureOf, sessionHeaders, unreachable } from "./client.ts";

/** Sends the file and returns the parsed JSON of the answer. @param onSent called with the share that is
 * sent, 0 to 1 @throws ApiFailure */
export function upload(address: string, file: File, onSent: (share: number) => void): Promise<unknown> {
  return new Promise((resolve, reject: (error: ApiFailure) => void) => {
    const request = new XMLHttpRequest();
    request.open("POST", below(address));
    for (const [name, value] of Object.entries(sessionHeaders)) request.setRequestHeader(name, value);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.upload.onprogress = ({ loaded, total }) => onSent(total === 0 ? 0 : loaded / total);
    request.onerror = () => reject(unreachable());
    request.onload = () => {
      const { status, responseText } = request;
      if (status === 201) resolve(JSON.parse(responseText));
      else {
        const after = request.getResponseHeader("retry-after");
        const headers = after === null ? {} : { "Retry-After": after };
        void failureOf(new Response(responseText, { status, headers })).then(reject);
      }
    };
    request.send(file);
  });
}
