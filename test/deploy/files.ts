/** Reads the files in deploy/ as the programs that use them do, as far as tests need it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../tidy/source-files.ts";

/** The text of a file in deploy/. */
export function deployFile(name: string): string {
  return readFileSync(join(root, "deploy", name), "utf8");
}

export interface Instruction {
  /** COPY, RUN, … */
  readonly word: string;
  readonly rest: string;
}

/** A stage of a Dockerfile: what stands between two FROM. */
export interface Stage {
  readonly from: string;
  readonly name: string | undefined;
  readonly instructions: readonly Instruction[];
}

/** The stages of a Dockerfile. Lines that end with a backslash go on. */
export function stagesOf(dockerfile: string): readonly Stage[] {
  const lines = dockerfile
    .replace(/^\s*#.*\n/gm, "")
    .replace(/\\\n\s*/g, "")
    .split("\n")
    .filter((line) => line.trim() !== "");
  const stages: { from: string; name: string | undefined; instructions: Instruction[] }[] = [];
  for (const line of lines) {
    const [, word = "", rest = ""] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (word === "") throw new Error(`This is no instruction: ${line}`);
    if (word === "FROM") {
      const [from = "", , name] = rest.split(/\s+/);
      stages.push({ from, name, instructions: [] });
    } else {
      const stage = stages.at(-1);
      if (stage === undefined) throw new Error(`${word} stands before the first FROM.`);
      stage.instructions.push({ word, rest });
    }
  }
  return stages;
}

/** The sources and target of a COPY. `from` is a stage's name, or undefined for the repository. */
export function copyOf({ rest }: Instruction) {
  const words = rest.split(/\s+/);
  const from = words.find((word) => word.startsWith("--from="))?.slice("--from=".length);
  const paths = words.filter((word) => !word.startsWith("--"));
  return { from, sources: paths.slice(0, -1), target: paths.at(-1) ?? "" };
}

/** The words of a HEALTHCHECK, ENTRYPOINT or CMD in its JSON form. */
export function commandOf({ rest }: Instruction): readonly string[] {
  return JSON.parse(/\[.*\]/.exec(rest)?.[0] ?? "[]");
}

/** The properties of a service in a compose file that the tests check. */
export interface Service {
  readonly image?: string;
  readonly build?: {
    readonly context: string;
    readonly dockerfile: string;
    readonly args?: Readonly<Record<string, string>>;
  };
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly restart?: string;
  readonly mem_limit?: string;
  readonly pids_limit?: number | string;
  readonly read_only?: boolean;
  readonly stop_grace_period?: string;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly networks?: { readonly default: { readonly ipv4_address: string } };
  readonly depends_on?: object;
}

export interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
  readonly networks?: {
    readonly default: {
      readonly ipam: { readonly config: readonly { subnet: string; gateway: string; ip_range?: string }[] };
    };
  };
}

/** A compose file with the variables of an environment file in their places.
 * @throws Error when a variable that has to be set is not */
export function compose(name: string, environment: Readonly<Record<string, string>>): Compose {
  const variables = /\$\{(\w+):([?-])([^}]*)\}/g;
  const text = deployFile(name).replace(variables, (_, variable: string, sign: string, rest: string) => {
    const value = environment[variable];
    if (value) return value;
    if (sign === "?") throw new Error(`${variable}: ${rest}`);
    return rest;
  });
  return Bun.YAML.parse(text) as Compose;
}

/** The assignments of an environment file. */
export function assignments(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = "", value = ""]) => [name, value]),
  );
}
