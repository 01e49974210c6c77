/** What is so of the embedded warehouse alone. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { WarehouseUnderTest } from "./support.ts";

const subject = new WarehouseUnderTest();

test("a second process is refused the folder while the first has it open", async () => {
  const program = `
      import { openChdbWarehouse } from ${JSON.stringify(join(import.meta.dir, "../../server/warehouse/chdb.ts"))};
      await openChdbWarehouse({ folder: ${JSON.stringify(join(subject.folder, "warehouse"))} })
        .then(() => console.log("opened"), (error) => console.log(error.name + ": " + error.message));`;
  const child = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe", stderr: "ignore" });
  expect(await new Response(child.stdout).text()).toStartWith("WarehouseError:");
  await child.exited;
});
