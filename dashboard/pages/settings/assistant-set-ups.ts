/** How known AI assistants are connected: texts to copy. */

export interface AssistantSetUp {
  readonly name: string;
  /** Where the text goes. */
  readonly where: string;
  readonly text: string;
}

/** The set-ups, with the address of the service and a key. @param key a secret, or what stands for it */
export function assistantSetUps(address: string, key: string): readonly AssistantSetUp[] {
  const url = `${address}/mcp`;
  const headers = { Authorization: `Bearer ${key}` };
  const bridge = {
    command: "rekindle",
    args: ["mcp"],
    env: { REKINDLE_URL: address, REKINDLE_KEY: key },
  };
  return [
    {
      name: "Claude Code",
      where: "Run this in a terminal.",
      text: `claude mcp add --transport http rekindle ${url} --header "Authorization: Bearer ${key}"`,
    },
    {
      name: "Claude Desktop",
      where: "Settings, Developer, Edit config. It starts the rekindle command of this computer.",
      text: json({ mcpServers: { rekindle: bridge } }),
    },
    {
      name: "Cursor",
      where: "~/.cursor/mcp.json",
      text: json({ mcpServers: { rekindle: { url, headers } } }),
    },
    {
      name: "VS Code",
      where: ".vscode/mcp.json",
      text: json({ servers: { rekindle: { type: "http", url, headers } } }),
    },
    {
      name: "Codex CLI",
      where: "~/.codex/config.toml, with the key in the variable REKINDLE_KEY.",
      text: `[mcp_servers.rekindle]\nurl = "${url}"\nbearer_token_env_var = "REKINDLE_KEY"`,
    },
    {
      name: "Another client",
      where: "Streamable HTTP with a header, or a command.",
      text: `${url}\nAuthorization: Bearer ${key}\n\nREKINDLE_URL=${address} REKINDLE_KEY=${key} rekindle mcp`,
    },
  ];
}

function json(value: object): string {
  return JSON.stringify(value, null, 2);
}
