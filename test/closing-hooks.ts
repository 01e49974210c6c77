/** Closes what tests open. bunfig.toml loads this file before the tests, so its hooks apply to all files of a
 * run. */
import { afterAll, afterEach, beforeEach } from "bun:test";
import { runEnds, testBegins, testEnds } from "./closing.ts";

beforeEach(testBegins);
afterEach(testEnds);
afterAll(runEnds);
