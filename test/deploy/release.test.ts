/** The release workflow and the notes that it publishes. The workflow itself runs on GitHub alone. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../server.ts";
import { root } from "../tidy/source-files.ts";

interface Job {
  readonly needs?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps: readonly { readonly uses?: string; readonly run?: string; readonly with?: object }[];
}

const workflow = Bun.YAML.parse(readFileSync(join(root, ".github/workflows/release.yml"), "utf8")) as {
  readonly permissions: object;
  readonly jobs: Readonly<Record<string, Job>>;
};
const steps = Object.values(workflow.jobs).flatMap(({ steps }) => steps);
const scripts = steps.flatMap(({ run }) => (run === undefined ? [] : [run]));

describe("the notes of a release", () => {
  const notesOf = (version: string) => run([join(root, "deploy/release-notes.sh"), version]);

  test("are the section of its version", async () => {
    const { exitCode, stdout } = await notesOf("0.1.0");
    expect(exitCode).toBe(0);
    expect(stdout).toContain("- **Write API**");
    expect(stdout).not.toContain("## [");
    expect(stdout).not.toContain("**Call list**");
  });

  test.each(["9.9.9", "0.1", "Unreleased]x"])("are refused for %s", async (version) => {
    const { exitCode, stderr } = await notesOf(version);
    expect([exitCode, stderr]).toEqual([1, `CHANGELOG.md has no notes for ${version}\n`]);
  });
});

describe("the workflow", () => {
  test("has scripts that a shell reads", async () => {
    expect(scripts.length).toBeGreaterThan(4);
    const unread = await Promise.all(
      scripts.map(async (script) => (await run(["bash", "-n", "-c", script])).stderr),
    );
    expect(unread.filter((said) => said !== "")).toEqual([]);
  });

  test("names files and scripts of this repository", () => {
    const { scripts: known } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const named = scripts.flatMap((script) => script.match(/deploy\/[\w.-]+/g) ?? []);
    expect(named.length).toBeGreaterThan(1);
    expect([...named, "deploy/Dockerfile"].filter((path) => !existsSync(join(root, path)))).toEqual([]);
    const ran = scripts.flatMap((script) => [...script.matchAll(/npm run (\S+)/g)].map(([, name]) => name));
    expect(ran.filter((name) => known[name ?? ""] === undefined)).toEqual([]);
    expect(ran).toContain("package");
  });

  test("publishes nothing before the tests passed, and writes only where it must", () => {
    expect(workflow.permissions).toEqual({ contents: "read" });
    const { check, image, tag, package: packed } = workflow.jobs;
    expect([image?.needs, tag?.needs, packed?.needs]).toEqual(["check", "image", "tag"]);
    expect(check?.permissions).toBeUndefined();
    expect(JSON.stringify(check?.steps)).toContain("npm test");
  });

  test("pins every action to a version", () => {
    const actions = steps.flatMap(({ uses }) => (uses === undefined ? [] : [uses]));
    expect(actions.filter((action) => !/@v\d+$/.test(action))).toEqual([]);
  });
});
