/** A request to ClickHouse's HTTP interface, read as strictly as ClickHouse reads it. */
import type { IncomingHttpHeaders } from "node:http";
import { gunzipSync, zstdDecompressSync } from "node:zlib";

export interface ClickHouseQuery {
  readonly sql: string;
  /** The inserted data. Undefined for a query without data. */
  readonly data: Buffer | undefined;
  readonly settings: ReadonlyMap<string, string>;
  /** `param_name` and its text. */
  readonly parameters: ReadonlyMap<string, string>;
  readonly database: string;
  readonly queryId: string;
  readonly format: string;
  readonly waitEnd: boolean;
}

/** An exception as ClickHouse reports it. */
export class ClickHouseException extends Error {
  readonly code: number;

  constructor(code: number, name: string, text: string) {
    super(`Code: ${code}. DB::Exception: ${text}. (${name}) (version of the test)`);
    this.code = code;
  }
}

/** `http_max_field_value_size` */
const maxFieldBytes = 131_072;
/** `http_max_uri_size` is a megabyte. Proxies accept less, and so does this server. */
const maxUrlBytes = 8_192;

/** Reads the query of a request. @throws ClickHouseException */
export function readQuery(url: string, headers: IncomingHttpHeaders, raw: Buffer): ClickHouseQuery {
  if (url.length > maxUrlBytes)
    throw new ClickHouseException(1000, "POCO_EXCEPTION", "The address is too long");
  const fields = new Map(new URL(url, "http://server").searchParams);
  const body = inflated(raw, headers["content-encoding"]);
  const boundary = /^multipart\/form-data; boundary=(.+)$/.exec(headers["content-type"] ?? "")?.[1];
  if (boundary !== undefined) for (const [name, value] of formFields(body, boundary)) fields.set(name, value);
  for (const [name, value] of fields) {
    if (Buffer.byteLength(value) > maxFieldBytes) {
      throw new ClickHouseException(1000, "POCO_EXCEPTION", `Field value too long: ${name}`);
    }
  }
  const take = (name: string) => {
    const value = fields.get(name);
    fields.delete(name);
    return value;
  };
  const query = take("query");
  const rest = boundary === undefined ? body : Buffer.alloc(0);
  const sql = query ?? rest.toString();
  const known = {
    database: take("database") ?? "default",
    queryId: take("query_id") ?? crypto.randomUUID(),
    format: take("default_format") ?? "TabSeparated",
    waitEnd: take("wait_end_of_query") === "1",
  };
  const named = [...fields];
  return {
    ...known,
    sql,
    data: query !== undefined && rest.length > 0 ? rest : undefined,
    settings: new Map(named.filter(([name]) => !name.startsWith("param_"))),
    parameters: new Map(named.filter(([name]) => name.startsWith("param_"))),
  };
}

function inflated(body: Buffer, encoding: string | undefined): Buffer {
  if (encoding === undefined) return body;
  if (encoding === "gzip") return gunzipSync(body);
  if (encoding === "zstd") return zstdDecompressSync(body);
  throw new ClickHouseException(49, "LOGICAL_ERROR", `Unknown Content-Encoding ${encoding}`);
}

function* formFields(body: Buffer, boundary: string): Iterable<[string, string]> {
  const text = body.toString();
  const end = `--${boundary}--\r\n`;
  if (!text.endsWith(end)) {
    throw new ClickHouseException(33, "CANNOT_READ_ALL_DATA", "Unexpected EOF in a multipart request");
  }
  for (const part of text.slice(0, -end.length).split(`--${boundary}\r\n`).slice(1)) {
    const [, name, value] =
      /^Content-Disposition: form-data; name="(\w+)"\r\n\r\n([\s\S]*)\r\n$/.exec(part) ?? [];
    if (name === undefined || value === undefined) {
      throw new ClickHouseException(1000, "POCO_EXCEPTION", "A part that is no field");
    }
    yield [name, value];
  }
}
