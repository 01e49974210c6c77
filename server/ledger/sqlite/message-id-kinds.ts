/** The step that distinguishes ids of identifies from those of tracks. Before it, ids were kept without their
 * kind. */
export const messageIdKinds = `
  CREATE TABLE message_id_kinds (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    kinds_from_ms INTEGER NOT NULL
  ) STRICT;
  INSERT INTO message_id_kinds
  SELECT 1, CASE WHEN EXISTS (SELECT 1 FROM organizations) THEN (unixepoch() + 1) * 1000 ELSE 0 END;
`;
