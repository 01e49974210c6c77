/** How the requests of a webhook with a mapping are signed. */
import type { ReactElement } from "react";
import type { HeaderSignature, WebhookSignature } from "../../../contract/source-settings.ts";
import type { Reads } from "../../api/query.ts";
import { Input, PasswordInput, Select } from "../../parts/form/field.tsx";

type Webhook = Reads["/api/webhooks"]["answer"]["webhooks"][number];

/** The fields of the form. */
export interface SignatureFields extends Required<HeaderSignature> {
  readonly kind: "none" | "standard-webhooks" | "header";
  readonly secret: string;
}

const initially: SignatureFields = {
  kind: "none",
  secret: "",
  header: "",
  algorithm: "sha256",
  encoding: "hex",
  prefix: "",
};

export function signatureFieldsOf(signature: WebhookSignature | null): SignatureFields {
  if (signature === null) return initially;
  if (signature === "standard-webhooks") return { ...initially, kind: signature };
  return { ...initially, ...signature, kind: "header" };
}

/** The change of a webhook's verification. A secret that is not typed again stays. @param webhook undefined
 * for a new one */
export function signatureChange(fields: SignatureFields, webhook: Webhook | undefined) {
  const { kind, secret, header, algorithm, encoding, prefix } = fields;
  if (kind === "none") return webhook?.secret ? { secret: null } : {};
  const signature: WebhookSignature =
    kind === "standard-webhooks"
      ? kind
      : { header: header.trim(), algorithm, encoding, ...(prefix !== "" && { prefix }) };
  return { signature, ...(secret.trim() !== "" && { secret: secret.trim() }) };
}

/** What a webhook accepts, in words. */
export function signedWith(signature: WebhookSignature | null, lastFour: string): string {
  const by = typeof signature === "string" || signature === null ? "Standard Webhooks" : signature.header;
  return `Only requests signed with …${lastFour} are accepted (${by}).`;
}

const kinds = [
  { value: "none", label: "Not verified" },
  { value: "standard-webhooks", label: "Standard Webhooks" },
  { value: "header", label: "HMAC in a header" },
] as const;
const algorithms = (["sha256", "sha1", "sha512"] as const).map((value) => ({ value, label: value }));
const encodings = (["hex", "base64"] as const).map((value) => ({ value, label: value }));

interface SignatureProps {
  readonly fields: SignatureFields;
  readonly onFields: (changed: SignatureFields) => void;
  readonly hasSecret: boolean;
  readonly error: string | undefined;
}

export function SignatureInputs({ fields, onFields, hasSecret, error }: SignatureProps): ReactElement {
  const { kind, secret, header, algorithm, encoding, prefix } = fields;
  const set = (changed: Partial<SignatureFields>) => onFields({ ...fields, ...changed });
  return (
    <>
      <Select label="Signature" value={kind} choices={kinds} onChoose={(chosen) => set({ kind: chosen })} />
      {kind !== "none" && (
        <PasswordInput
          label="Signing secret"
          value={secret}
          onChange={({ target }) => set({ secret: target.value })}
          autoComplete="off"
          maxLength={200}
          help={hasSecret ? "If empty, it stays as it is." : "The key that the tool signs with."}
          error={error}
        />
      )}
      {kind === "header" && (
        <>
          <Input
            label="Header"
            value={header}
            onChange={({ target }) => set({ header: target.value })}
            spellCheck={false}
            maxLength={100}
            help="e.g. X-Hub-Signature-256"
          />
          <Input
            label="Before the signature"
            value={prefix}
            onChange={({ target }) => set({ prefix: target.value })}
            spellCheck={false}
            maxLength={20}
            help="e.g. sha256="
          />
          <Select
            label="Hash"
            value={algorithm}
            choices={algorithms}
            onChoose={(chosen) => set({ algorithm: chosen })}
          />
          <Select
            label="Encoding"
            value={encoding}
            choices={encodings}
            onChoose={(chosen) => set({ encoding: chosen })}
          />
        </>
      )}
    </>
  );
}
