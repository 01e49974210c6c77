/** Reads what a command is given as a file. */
import { readFile } from "node:fs/promises";
import { Refusal } from "../contract/refusal.ts";
import { messageOf } from "../server/process/message-of.ts";

/** The text of a file, or of standard input for `-`. @throws Refusal */
export async function textOf(file: string): Promise<string> {
  try {
    if (file === "-" && process.stdin.isTTY) process.stderr.write("The text, then Ctrl-D:\n");
    return file === "-" ? await Bun.stdin.text() : await readFile(file, "utf8");
  } catch (error) {
    throw new Refusal(`${file} cannot be read: ${messageOf(error)}.`);
  }
}
