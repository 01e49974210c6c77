/** Names of companies and people, obviously invented. Addresses end in .example, a reserved domain. */
import type { Random } from "./random.ts";

const beginnings =
  "Brel Quin Tov Marn Zel Orb Fen Kast Dru Vex Lum Pell Gor Hask Yar Nim Tal Sorn Wex Jund".split(" ");
const middles = "a o i e or an ul em".split(" ");
const endings = "dle mar vix lo ric by tra zen mond fer lin quo bis gard".split(" ");

const names = beginnings.length * middles.length * endings.length;
/** Coprime to the number of names, so that every name is used before one repeats. */
const stride = 1_009;

export interface CompanyName {
  /** `Brelamar Logistics` */
  readonly name: string;
  /** `brelamar.example` */
  readonly domain: string;
}

/** The name of the n-th company, another for each n. */
export function companyName(n: number, seed: number, trades: readonly string[], random: Random): CompanyName {
  const index = ((n + (seed % names)) * stride) % names;
  const part = (list: readonly string[], at: number) => list[at % list.length] ?? "";
  const word =
    part(beginnings, index) +
    part(middles, Math.floor(index / beginnings.length)) +
    part(endings, Math.floor(index / beginnings.length / middles.length));
  const round = Math.floor(n / names);
  return {
    name: `${word} ${random.pick(trades)}${round === 0 ? "" : ` ${round + 1}`}`,
    domain: `${word.toLowerCase()}${round === 0 ? "" : round + 1}.example`,
  };
}

const firstNames =
  "Ada Aiko Amara Anders Ben Bruna Carmen Chidi Clara Dana Dmitri Elif Emil Esra Farah Felix Gita Hana Hugo Ines Ivan Jana Joao Kaya Kofi Lars Leila Lena Luca Maja Malik Marta Mei Mila Nadia Nils Noor Olga Omar Pablo Petra Priya Rafael Rosa Sami Sara Sven Tara Theo Uma Vera Viktor Wanda Yara Yusuf Zoe".split(
    " ",
  );
const lastNames =
  "Abara Albers Amsel Baran Becker Bianchi Borg Castell Chen Costa Dahl Demir Duval Eklund Farkas Fischer Fontana Garcia Haas Hansen Ibarra Ivanova Jansen Kaplan Keller Kimura Kowal Larsen Lind Lopez Marek Mensah Moreau Nagy Novak Okafor Olsen Hold Pereira Popov Quist Rossi Sato Schulz Silva Sousa Tamm Tanaka Vogel Weber Wolf Yilmaz Zeman".split(
    " ",
  );

export interface PersonName {
  readonly name: string;
  /** The part of the address before the @. */
  readonly mailbox: string;
}

/** A name, and a mailbox that is unique: `n` is the person's number. */
export function personName(n: number, random: Random): PersonName {
  const first = random.pick(firstNames);
  const last = random.pick(lastNames);
  return { name: `${first} ${last}`, mailbox: `${first}.${last}.${n}`.toLowerCase() };
}
