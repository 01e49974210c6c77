/** The tables of segments, as the migration creates them on both engines. Never edit a released text. */
import type { TableTypes } from "../../ledger/tables.ts";

/** Segments, and the users or accounts of fixed ones: one of the two numbers is 0. A filter names no user and
 * no account. */
export function segmentTables({ id, integer, text, ordered, end, keyed }: TableTypes): string {
  return `
  CREATE TABLE segments (
    id ${id},
    organization ${integer} NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    kind ${text} NOT NULL,
    name ${ordered} NOT NULL,
    filter ${text},
    created_by ${integer} REFERENCES people (id) ON DELETE SET NULL,
    created_at_ms ${integer} NOT NULL,
    updated_at_ms ${integer} NOT NULL,
    content_at_ms ${integer} NOT NULL,
    UNIQUE (organization, name)
  )${end};
  CREATE INDEX segments_of_person ON segments (created_by);

  CREATE TABLE segment_entities (
    segment ${integer} NOT NULL REFERENCES segments (id) ON DELETE CASCADE,
    organization ${integer} NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    user_number ${integer} NOT NULL,
    account_number ${integer} NOT NULL,
    CHECK ((user_number = 0) <> (account_number = 0)),
    PRIMARY KEY (segment, user_number, account_number)
  )${keyed};
  CREATE INDEX segments_of_entity ON segment_entities (organization, user_number, account_number);
`;
}

/** A block has the numbers from a multiple of this one up to the next multiple. */
export const numbersInBlock = 1_024;

/** Makes a list of the column `number`. */
const listOf = {
  sqlite: "json_group_array(number ORDER BY number)",
  postgres: "CAST(json_agg(number ORDER BY number) AS text)",
} as const;

/** The users or accounts of fixed segments in blocks: `numbers` is a list as JSON, ascending, and `members`
 * its length. */
export function segmentBlocks({ engine, integer, text, end }: TableTypes): string {
  return `
  CREATE TABLE segment_blocks (
    segment ${integer} NOT NULL REFERENCES segments (id) ON DELETE CASCADE,
    organization ${integer} NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    block ${integer} NOT NULL,
    members ${integer} NOT NULL CHECK (members > 0),
    numbers ${text} NOT NULL,
    PRIMARY KEY (segment, block)
  )${end};
  CREATE INDEX segment_blocks_of_organization ON segment_blocks (organization, block);
  INSERT INTO segment_blocks (segment, organization, block, members, numbers)
  SELECT segment, organization, number / 1024, count(*), ${listOf[engine]} FROM (
    SELECT segment, organization, user_number + account_number AS number FROM segment_entities) AS entities
  GROUP BY segment, organization, number / 1024;
  DROP TABLE segment_entities;
`;
}
