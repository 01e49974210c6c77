/** What is said with queries by HTTP: a server may have other defaults, or somebody may have changed them. */

/** Of every query. */
export const always = {
  session_timezone: "UTC",
  output_format_json_quote_64bit_integers: 0,
  output_format_json_escape_forward_slashes: 0,
  // Statements that change stored rows answer when they have, on every replica.
  mutations_sync: 2,
  lightweight_deletes_sync: 2,
  // An exception in the middle of an answer comes as a tagged block, in every format.
  http_write_exception_in_output_format: 0,
  // A truncated gzip would hide that block.
  enable_http_compression: 0,
} as const;

/** A query may have settings of its own, and must not write. */
export const reading = { readonly: 2, cancel_http_readonly_queries_on_client_close: 1 } as const;
