/** Webhooks and Stripe's settings on the page of sources: tried, saved, changed, deleted. Secrets show their
 * last characters only. */
import { beforeAll, expect, test } from "bun:test";
import { fieldsOf, mappingOf } from "../../dashboard/pages/sources/webhook-fields.ts";
import { joined } from "../people/support.ts";
import { notification, subscription } from "../sources/presets/paddle/payloads.ts";
import {
  axe,
  notedMessages,
  openInOrganization,
  openPage,
  phone,
  sidewaysPixels,
  signInAs,
} from "./support.ts";
import { world } from "./world.ts";

const { server, browser } = await world();

beforeAll(async () => {
  await server.organization("Hooked");
});

const mapping = {
  userId: "user.id",
  event: { path: "type" },
  isActivity: false,
  account: { id: "$.team", properties: { tier: "$.tier" } },
  traits: { plan: "user.plan" },
  properties: "data",
};

test("fields and mappings say the same", () => {
  expect(mappingOf(fieldsOf(mapping))).toEqual(mapping);
  expect(mappingOf(fieldsOf({}))).toEqual({});
  const fields = { ...fieldsOf({}), eventText: " called ", traits: "plan\nseats = team.seats" };
  expect(mappingOf(fields)).toEqual({
    event: { text: "called" },
    traits: { plan: "plan", seats: "team.seats" },
  });
});

test("a webhook is tried before it is saved, has its address, is changed and deleted", async () => {
  const { page, complaints } = await openInOrganization(browser, server, "/sources?open=webhook", "Hooked");
  await page.getByText("No webhook yet").waitFor();
  await page.getByRole("button", { name: "Add webhook" }).click();
  await page.getByLabel("Name", { exact: true }).fill("forms");
  await page.getByLabel("The user's id").fill("user.id");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("mapping has no data").waitFor();
  await page.getByLabel("The event's name").fill("type");
  await page.getByLabel("The event's properties").fill("form = data.form");
  const sample = { user: { id: 42 }, type: "Form sent", data: { form: "contact" } };
  await page.getByLabel("Sample body").fill(JSON.stringify([sample, {}]));
  await page.getByRole("button", { name: "Try", exact: true }).click();
  await page.getByText("The event Form sent of 42").waitFor();
  await page.getByText('{"form":"contact"}', { exact: true }).waitFor();
  await page.getByText("There is no id of a user at user.id.").waitFor();
  await page.getByLabel("Sample body").fill("no JSON");
  await page.getByRole("button", { name: "Try", exact: true }).click();
  await page.getByText("The sample is not valid JSON.").waitFor();
  expect(await axe(page)).toEqual([]);
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText(`${server.url}/v1/webhooks/forms/YOUR_TOKEN`).waitFor();
  await page.getByRole("button", { name: "Change the webhook forms" }).click();
  expect(await page.getByLabel("The event's properties").inputValue()).toBe("form = data.form");
  await page.setViewportSize(phone);
  expect(await sidewaysPixels(page)).toBe(0);
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Delete the webhook forms" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("No webhook yet").waitFor();
  expect(complaints.filter((complaint) => !complaint.includes("400"))).toEqual([]);
});

test("a webhook of one's own gets a signature, which is changed, and taken away", async () => {
  const { page, complaints } = await openInOrganization(browser, server, "/sources?open=webhook", "Hooked");
  await page.getByRole("button", { name: "Add webhook" }).click();
  await page.getByLabel("Name", { exact: true }).fill("signed");
  await page.getByLabel("The user's id").fill("user");
  await page.getByLabel("The event's name").fill("type");
  await page.getByLabel("Signature", { exact: true }).selectOption({ label: "HMAC in a header" });
  await page.getByLabel("Header", { exact: true }).fill("X-Hub-Signature-256");
  await page.getByLabel("Before the signature").fill("sha256=");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText(/^This is missing/).waitFor();
  await page.getByLabel("Signing secret").fill("a secret of ours ABCD");
  expect(await axe(page)).toEqual([]);
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Only requests signed with …ABCD are accepted (X-Hub-Signature-256).").waitFor();
  await page.getByRole("button", { name: "Change the webhook signed" }).click();
  expect(await page.getByLabel("Header", { exact: true }).inputValue()).toBe("X-Hub-Signature-256");
  await page.getByLabel("Signature", { exact: true }).selectOption({ label: "Standard Webhooks" });
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Only requests signed with …ABCD are accepted (Standard Webhooks).").waitFor();
  await page.getByRole("button", { name: "Change the webhook signed" }).click();
  await page.getByLabel("Signature", { exact: true }).selectOption({ label: "Not verified" });
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Requests are not verified. Anyone who has this URL can post.").waitFor();
  await page.getByRole("button", { name: "Delete the webhook signed" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("No webhook yet").waitFor();
  expect(complaints.filter((complaint) => !complaint.includes("400"))).toEqual([]);
});

test("each billing tool is an entry of its own, whose webhook is tried, and saved with its secret", async () => {
  const { page, complaints } = await openInOrganization(browser, server, "/sources", "Hooked");
  for (const [tool, secret] of [
    ["Polar", "Secret of the endpoint"],
    ["LemonSqueezy", "Signing secret"],
    ["RevenueCat", "Authorization header"],
    ["Chargebee", "Basic authentication"],
    ["Paddle", "Secret key of the destination"],
  ] as const) {
    await page.getByRole("button", { name: `Set up ${tool}` }).click();
    await page.getByText(`enter its address in ${tool}.`).waitFor();
    await page.getByText(`In ${tool}`).first().waitFor();
    await page
      .getByRole("table", { name: "What we do with it" })
      .getByText("payment_succeeded")
      .first()
      .waitFor();
    await page.getByRole("button", { name: "Add webhook" }).click();
    await page.getByLabel(secret).waitFor();
    expect(await axe(page)).toEqual([]);
  }
  expect(await page.getByLabel("The user's id").count()).toBe(0);
  expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("paddle");
  const body = notification("subscription.created", subscription());
  await page.getByLabel("Sample body").fill(JSON.stringify(body));
  await page.getByRole("button", { name: "Try", exact: true }).click();
  await page.getByText("The event subscription_started of paddle:ctm_1").waitFor();
  await page.getByLabel("Sample body").fill(JSON.stringify({ ...body, event_type: "price.created" }));
  await page.getByRole("button", { name: "Try", exact: true }).click();
  await page.getByText("Ignored: price.created is not used.").waitFor();
  await page.getByLabel("Secret key").fill("short");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("This is not valid: use 8 to 200 characters").waitFor();
  await page.getByLabel("Secret key").fill("pdl_ntfset_secretABCD");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText(`${server.url}/v1/webhooks/paddle/YOUR_TOKEN`).waitFor();
  await page.getByText("Only requests that Paddle signed with …ABCD are accepted.").waitFor();
  expect(await page.content()).not.toContain("pdl_ntfset_secretABCD");
  await page.getByText("By the webhook paddle. Its items count under Webhooks.").waitFor();
  await page.getByRole("button", { name: "Set up Webhooks" }).click();
  await page.getByText("No webhook yet").waitFor();
  expect(await page.getByText("/v1/webhooks/paddle/").count()).toBe(0);
  await page.getByRole("button", { name: "Set up Paddle" }).click();
  await page.getByRole("button", { name: "Change the webhook paddle" }).click();
  await page.setViewportSize(phone);
  expect(await sidewaysPixels(page)).toBe(0);
  await page.getByRole("button", { name: "Remove the secret" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Remove the secret" }).click();
  await page.getByText("Requests are not verified. Anyone who has this URL can post.").waitFor();
  await page.getByRole("button", { name: "Delete the webhook paddle" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("No webhook yet").waitFor();
  expect(complaints.filter((complaint) => !complaint.includes("400"))).toEqual([]);
});

test("a signing secret is typed, shown by its end, and removed; a viewer sees no form", async () => {
  const { page } = await openInOrganization(browser, server, "/sources?open=stripe", "Hooked");
  await page.getByText("Anyone who has this URL can post.").waitFor();
  await page.getByLabel("Signing secret").fill("whsec_secretsABCD");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Only requests signed with whsec_…ABCD are accepted.").waitFor();
  expect(await page.content()).not.toContain("whsec_secretsABCD");
  const told = await notedMessages(page);
  await page.getByLabel("Unmatched Stripe customers").selectOption("create");
  await page.getByRole("button", { name: "Save choice" }).click();
  await told("Saved.");
  expect(await axe(page)).toEqual([]);
  await page.getByRole("button", { name: "Remove the signing secret" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Remove the signing secret" }).click();
  await page.getByText("Anyone who has this URL can post.").waitFor();
  await page.context().close();

  const viewer = await joined(server, "Hooked", "viewer", "Vera Viewer");
  const opened = await openPage(browser);
  await signInAs(opened.page, server, viewer);
  await opened.page.goto(`${server.url}/o/${viewer.organization}/sources?open=stripe`);
  await opened.page.getByText("Anyone who has this URL can post.").waitFor();
  expect(await opened.page.getByLabel("Signing secret").count()).toBe(0);
  await opened.page.context().close();
});
