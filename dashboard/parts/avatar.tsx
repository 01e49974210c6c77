/** A person's or an account's picture. Its place has one size from the start. Initials stand in it until a
 * picture has come, and stay when none does. A request for a picture on another host reveals the page view
 * to that host. Such pictures are therefore loaded only where the installation allows it. A picture in a
 * data: address always is. */
import { type ReactElement, useState } from "react";
import { useInstallation } from "../app/session.ts";
import { classes } from "../text/classes.ts";

const sizes = { small: "size-6 text-xs", large: "size-12 text-lg" } as const;
const washes = [
  "bg-ember-wash text-ember",
  "bg-onboarding-wash text-onboarding",
  "bg-healthy-wash text-healthy",
  "bg-watch-wash text-watch",
] as const;

/** @param name what the initials, and a lasting colour, are taken of @param image the address of a picture */
export function Avatar({
  name,
  image,
  size = "small",
  isAccount = false,
}: {
  name: string;
  image?: string | null | undefined;
  size?: keyof typeof sizes;
  /** Accounts are square, people round. */
  isAccount?: boolean;
}): ReactElement {
  const [failed, setFailed] = useState<string>();
  const isRemote = image != null && isRemoteImage(image);
  const mayLoadRemote = useInstallation(isRemote)?.remoteImages ?? false;
  const mayLoad = isRemote ? mayLoadRemote : image != null && /^data:image\//i.test(image);
  const hash = [...name].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 65_521, 7);
  return (
    <span
      aria-hidden="true"
      className={classes(
        "relative inline-flex shrink-0 items-center justify-center overflow-hidden font-medium select-none",
        isAccount ? "rounded" : "rounded-full",
        sizes[size],
        washes[hash % washes.length],
      )}
    >
      {initialsOf(name)}
      {image != null && mayLoad && failed !== image && (
        <img
          src={image}
          alt=""
          referrerPolicy="no-referrer"
          loading="lazy"
          decoding="async"
          onError={() => setFailed(image)}
          className="absolute inset-0 size-full object-cover"
        />
      )}
    </span>
  );
}

/** Whether it is an image elsewhere: an address of our own would be asked for with the reader's session. */
function isRemoteImage(address: string): boolean {
  return /^https:\/\//.test(address) && URL.canParse(address) && new URL(address).host !== location.host;
}

/** The first letters of the first and the last word, as a reader sees letters: an emoji is one. */
function initialsOf(name: string): string {
  const [beforeAt = ""] = name.split("@", 1);
  const words = beforeAt.split(/[^\p{L}\p{N}\p{Extended_Pictographic}\p{M}]+/u).filter((word) => word !== "");
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined].map((word) => firstLetter(word));
  return letters.join("").toLocaleUpperCase() || "?";
}

const letters = new Intl.Segmenter(undefined, { granularity: "grapheme" });

function firstLetter(word: string | undefined): string {
  if (word === undefined) return "";
  for (const { segment } of letters.segment(word)) return segment;
  return "";
}
