/** Suites made by others, read where they lie: beside the checkout, never copied into it. */
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Server } from "../server.ts";

const suites = join(import.meta.dir, "../../../shared/suites");

/** Defines the tests of a suite, in a folder or a file of ../shared/suites. When it is not there, as on a
 * machine that has the checkout alone, one line says so. */
export function withSuite(name: string, define: (path: string) => void): void {
  const path = join(suites, name);
  if (existsSync(path)) {
    define(path);
    return;
  }
  test(`${name} is not beside this checkout, and is not read`, () => {
    console.log(`not run: ${name}, since ../shared/suites is not beside the checkout`);
    expect(existsSync(path)).toBe(false);
  });
}

/** The files of a folder in the order of their names, with their bytes. */
export function filesIn(folder: string): { readonly name: string; readonly bytes: Buffer }[] {
  const names = readdirSync(folder).sort();
  return names.map((name) => ({ name, bytes: readFileSync(join(folder, name)) }));
}

interface FormatCase {
  readonly description: string;
  readonly data: unknown;
  readonly valid: boolean;
}

export type FormatString = FormatCase & { readonly data: string };

/** The strings of a suite of JSON Schema's formats with their verdicts. Formats say nothing of other types:
 * numbers and lists are `valid` there, and with us have the wrong type. */
export function formatStrings(path: string): FormatString[] {
  const groups: readonly { readonly tests: readonly FormatCase[] }[] = JSON.parse(readFileSync(path, "utf8"));
  return groups
    .flatMap(({ tests }) => tests)
    .filter((one): one is FormatString => typeof one.data === "string");
}

/** Why we judge otherwise than a suite, with the cases that we judge so. */
export type Deviations = Readonly<Record<string, readonly string[]>>;

/**
 * Compares our verdicts with those of a suite. Every case with another verdict must stand in `deviations`
 * under its reason. Every case there must still have another verdict.
 */
export function expectVerdicts(
  cases: readonly { readonly name: string; readonly taken: boolean; readonly expected: boolean }[],
  deviations: Deviations,
): void {
  const differing = cases.filter(({ taken, expected }) => taken !== expected).map(({ name }) => name);
  const listed = Object.values(deviations).flat();
  expect([...new Set(differing)].sort()).toEqual([...new Set(listed)].sort());
}

/** Makes an organization without a limit for the suite's rate, with the user "u", and a sender for it. */
export async function sender(
  server: Server,
  organization: string,
): Promise<(path: string, body: unknown) => Promise<Answer>> {
  const token = await server.organization(organization);
  await server.command("organization", "set", organization, "--rate-limit", "1000000");
  const post = async (path: string, body: unknown): Promise<Answer> => {
    const response = await server.post(path, token, body);
    return { status: response.status, text: await response.text() };
  };
  expect(await post("/identify", { userId: "u", email: "ada@example.com" })).toEqual(taken);
  return post;
}

/** An answer that was read. */
export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** The answer to a write that was taken. */
export const taken: Answer = { status: 201, text: '{"success":true}' };

/** The message of an answer that refuses a body. */
export function refusalOf(answer: Answer | undefined): string {
  const { message, statusCode, name } = JSON.parse(answer?.text ?? "{}");
  expect([answer?.status, statusCode, name]).toEqual([400, 400, "validation_error"]);
  return message;
}
