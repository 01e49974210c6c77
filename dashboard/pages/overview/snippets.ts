/** The two calls with which everything begins, ready to be run: identify a user, then record what the user
 * does. */

export const languageLabels = {
  curl: "curl",
  client: "rekindle-client",
  typescript: "TypeScript",
  python: "Python",
} as const;
export type Language = keyof typeof languageLabels;
export const languages = Object.keys(languageLabels) as readonly Language[];

const identify = {
  userId: "u1",
  email: "ada@example.com",
  properties: { name: "Ada", plan: "pro" },
};
const track = { userId: "u1", event: "report_created", properties: { pages: 3 } };

/** The two calls in a language, with the address and the token in place. They run as they stand. */
export function snippet(language: Language, address: string, token: string): string {
  return { curl, client, typescript, python }[language](address, token);
}

function curl(address: string, token: string): string {
  const call = (path: string, body: object) => `curl -X POST ${address}${path} \\
  -H 'Authorization: Basic ${token}' \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(body)}'`;
  return `${call("/identify", identify)}\n\n${call("/track", track)}\n`;
}

/** Builds the package of the folder client and installs it: no registry has it. */
export const clientInstallation = `# In a folder with Rekindle's source
cli/with-bun client/build.ts
npm pack ./client --pack-destination /tmp

# In your application
npm install /tmp/rekindle-client-*.tgz
`;

/** The package in the folder client, for TypeScript and JavaScript. */
function client(address: string, token: string): string {
  return `import { Rekindle } from "rekindle-client";

const rekindle = new Rekindle({ token: "${token}", host: "${address}" });

rekindle.identify(${asCode(identify)});
rekindle.track(${asCode(track)});

await rekindle.close();
`;
}

function typescript(address: string, token: string): string {
  return `async function send(path: string, body: object): Promise<void> {
  const response = await fetch("${address}" + path, {
    method: "POST",
    headers: {
      Authorization: "Basic ${token}",
      "Content-Type": "application/json",
    },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
}

await send("/identify", ${asCode(identify)});
await send("/track", ${asCode(track)});
`;
}

function python(address: string, token: string): string {
  return `import json
import urllib.request

def send(path, body):
    request = urllib.request.Request(
        "${address}" + path,
        data=json.dumps(body).encode(),
        headers={
            "Authorization": "Basic ${token}",
            "Content-Type": "application/json",
        },
    )
    urllib.request.urlopen(request).close()

send("/identify", ${asCode(identify)})
send("/track", ${asCode(track)})
`;
}

/** JSON of strings, numbers and objects is TypeScript, and Python as well. */
const asCode = (value: object) => JSON.stringify(value, null, 2);
