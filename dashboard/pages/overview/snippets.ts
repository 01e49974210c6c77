/** The two calls with which everything begins, ready to be run: identify a user of an account, then record
 * what the user does. */

export const languageLabels = {
  curl: "curl",
  typescript: "Node",
  client: "rekindle-client",
  python: "Python",
  ruby: "Ruby",
  php: "PHP",
  go: "Go",
} as const;
export type Language = keyof typeof languageLabels;
export const languages = Object.keys(languageLabels) as readonly Language[];

const identify = {
  userId: "u1",
  email: "ada@example.com",
  properties: { name: "Ada", plan: "pro" },
  account: { id: "acme", name: "Acme" },
};
const track = { userId: "u1", event: "report_created", properties: { pages: 3 } };

/** The two calls in a language, with the address and the token in place. They run as they stand. */
export function snippet(language: Language, address: string, token: string): string {
  return { curl, client, typescript, python, ruby, php, go }[language](address, token);
}

/** What a coding assistant is told. The token stays out: an assistant needs only the name of its variable. */
export function assistantPrompt(address: string): string {
  return `Add Rekindle to this codebase. First read ${address}/llms.txt: it says what to send and how.

- Identify every user on the server when they sign up, sign in or change, with their account (the company they belong to), plan and e-mail.
- Track what users do with the product: 5 to 20 events that show they get value, named like report_created.
- Send without blocking the request, retry when it fails, and log refused calls with their error.
- The token is in the environment variable REKINDLE_TOKEN. Never put it into the code or the browser.

Before you change anything, list the events that you found and where you would send them, and ask me.
`;
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

/** It is JavaScript, and TypeScript as well. */
function typescript(address: string, token: string): string {
  return `const send = async (path, body) => {
  const response = await fetch("${address}" + path, {
    method: "POST",
    headers: {
      Authorization: "Basic ${token}",
      "Content-Type": "application/json",
    },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
};

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

function ruby(address: string, token: string): string {
  return `require "json"
require "net/http"

def send_to_rekindle(path, body)
  headers = { "Authorization" => "Basic ${token}", "Content-Type" => "application/json" }
  response = Net::HTTP.post(URI("${address}" + path), JSON.generate(body), headers)
  raise response.body unless response.is_a?(Net::HTTPSuccess)
end

send_to_rekindle("/identify", ${asCode(identify)})
send_to_rekindle("/track", ${asCode(track)})
`;
}

function php(address: string, token: string): string {
  return `<?php
function send(string $path, array $body): void {
    $answer = file_get_contents("${address}" . $path, false, stream_context_create(["http" => [
        "method" => "POST",
        "header" => "Authorization: Basic ${token}\\r\\nContent-Type: application/json",
        "content" => json_encode($body),
        "ignore_errors" => true,
    ]]));
    if ($answer !== '{"success":true}') throw new Exception("Rekindle: " . $answer);
}

send("/identify", json_decode('${JSON.stringify(identify)}', true));
send("/track", json_decode('${JSON.stringify(track)}', true));
`;
}

function go(address: string, token: string): string {
  return `package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

func send(path, body string) error {
	request, err := http.NewRequest("POST", "${address}"+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Basic ${token}")
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusCreated {
		text, _ := io.ReadAll(response.Body)
		return fmt.Errorf("rekindle: %s", text)
	}
	return nil
}

func main() {
	if err := send("/identify", \`${JSON.stringify(identify)}\`); err != nil {
		panic(err)
	}
	if err := send("/track", \`${JSON.stringify(track)}\`); err != nil {
		panic(err)
	}
}
`;
}

/** JSON of strings, numbers and objects is also JavaScript, Python, and Ruby with symbols as keys. */
const asCode = (value: object) => JSON.stringify(value, null, 2);
