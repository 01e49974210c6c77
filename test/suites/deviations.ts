/** Where our decisions differ from the suites: the reason, and every case that is judged otherwise for it. */
import type { Deviations } from "./support.ts";

export const addressDeviations: Deviations = {
  "taken: only a mail server can say who is behind it": ["ada@[IPv6:1]", `${"a".repeat(65)}@example.com`],
};

export const dateTimeDeviations: Deviations = {
  "refused: no event is older than 1970": [
    "1937-01-01T12:00:27.87+00:20",
    "1963-06-19T08:30:06.283185Z",
    "1963-06-19T08:30:06Z",
    "1963-06-19t08:30:06.283185z",
  ],
};

export const dateDeviations: Deviations = {
  "refused: no event is older than 1970": ["0001-01-01", "0400-02-29", "1582-10-10", "1963-06-19"],
  "taken: a date-time is the other form of an event's time": ["2020-11-28T23:55:45Z"],
};

export const uriDeviations: Deviations = {
  "refused: a browser shows no picture from an address of this scheme": [
    "ftp://ftp.is.co.za/rfc/rfc1808.txt",
    "ldap://[2001:db8::7]/c=GB?objectClass?one",
    "mailto:John.Doe@example.com",
    "news:comp.infosystems.www.servers.unix",
    "tel:+1-816-555-1212",
    "urn:oasis:names:specification:docbook:dtd:xml:4.1.2",
  ],
  "refused: no browser opens a host that is a number and no IPv4 address": [
    "http://087.10.0.1/",
    "http://999.999.999.999/",
  ],
  "taken: RFC 3986 wants these escaped, and browsers, by the URL standard, escape them": [
    "http://example.com/%",
    "http://example.com/%6G",
    "http://example.com/%A",
    "https://[@example.org/test.txt",
    "https://example.org/foo bar.txt",
    'https://example.org/foobar".txt',
    "https://example.org/foobar<>.txt",
    "https://example.org/foobar\\.txt",
    "https://example.org/foobar^.txt",
    "https://example.org/foobar`.txt",
    "https://example.org/foobar{}.txt",
    "https://example.org/foobar|.txt",
    "https://example.org/foobar®.txt",
  ],
};

export const urlDeviations: Deviations = {
  "refused: an absolute URL is written with ://, browsers only mend what is not": [
    "http:/:b@www.example.com",
    "http:/@www.example.com",
    "http:/a:@www.example.com",
    "http:/a:b@www.example.com",
    "http:/example.com/",
    "http::b@www.example.com",
    "http:@www.example.com",
    "http:\\\\www.google.com\\foo",
    "http:a:@www.example.com",
    "http:a:b@www.example.com",
    "http:example.com/",
    "https:/example.com/",
    "https:example.com/",
  ],
  "refused: white space before or inside the scheme": [
    "\u0000\u001b\u0004\u0012 http://example.com/\u001f \r ",
    "h\tt\nt\rp://h\to\ns\rt:9\t0\n0\r0/p\ta\nt\rh?q\tu\ne\rry#f\tr\na\rg",
  ],
  "refused: the label after xn-- is no Punycode, and Bun's reader of URLs checks that": [
    "http://10.0.0.XN--pokxncvks",
    "http://10.0.0.xN--pokxncvks",
    "http://10.0.0.xn--pokxncvks",
    "http://a.b.c.XN--pokxncvks",
    "http://a.b.c.Xn--pokxncvks",
    "http://a.b.c.xn--pokxncvks",
    "https://xn--/",
  ],
};
