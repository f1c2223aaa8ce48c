import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { errorInWebhookUrl, maskedUrl, mayConnectTo, parseWebhookAllow } from "../../../src/domain/alerts/webhook-url.ts";

const EVERYTHING = parseWebhookAllow("0.0.0.0/0, ::/0");

const isRefused = (url: string, allow = ""): boolean =>
  errorInWebhookUrl(url, allow === "" ? [] : parseWebhookAllow(allow)) !== undefined;

test("a public https URL is accepted", () => {
  for (const url of [
    "https://example.com",
    "https://example.com:8443/hooks/tanks?token=abc#x",
    "HTTPS://Example.COM./",
    "https://8.8.8.8/",
    "https://[2606:4700:4700::1111]:443/",
    "https://bücher.example/",
    "https://a_b.example/",
    "https://1password.com/",
    "https://127.0.0.1.example.com/",
    "https://localhost.example.com/",
    "https://mylocalhost/",
    "https://9.9.9.9:/",
    `https://example.com/${"x".repeat(2028)}`,
  ]) {
    assert.equal(errorInWebhookUrl(url, []), undefined, url);
  }
});

test("what is not a URL, or can be read in two ways, is refused with an example", () => {
  for (const url of [
    "",
    "example.com",
    "ftp://example.com",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "https:",
    "https://",
    "https:///example.com",
    "https:example.com",
    "https:/example.com",
    "https:\\\\example.com",
    "https://example.com\\@10.0.0.1/",
    " https://example.com",
    "https://example.com ",
    "https://exam\tple.com",
    "https://exam\nple.com",
    "https://exam\0ple.com",
    "https://example.com/a b",
    "https://example.com:99999",
    "https://exa%00mple.com",
    "https://[::1%25eth0]/",
    "https://[::1/",
    "https://1.2.3.4.5/",
    "https://256.1.1.1/",
    "https://999999999999/",
    "https://[1.2.3.4]/",
  ]) {
    assert.match(errorInWebhookUrl(url, EVERYTHING) ?? "", /^must be a URL such as "https:/, JSON.stringify(url));
  }
  assert.equal(errorInWebhookUrl(`https://example.com/${"x".repeat(2029)}`, []), "must have at most 2048 characters");
});

test("user info is refused, also an empty one", () => {
  for (const url of [
    "https://user@example.com",
    "https://user:pw@example.com",
    "https://@example.com",
    "https://:@example.com",
  ]) {
    assert.equal(errorInWebhookUrl(url, EVERYTHING), "must not contain a user name or password");
  }
});

test("http is refused except for what WEBHOOK_ALLOW permits", () => {
  assert.match(errorInWebhookUrl("http://example.com/", []) ?? "", /^must begin with https:\/\/.*WEBHOOK_ALLOW/);
  assert.ok(isRefused("http://8.8.8.8/"));
  assert.ok(isRefused("http://example.com/", "10.0.0.0/8"));
  assert.ok(!isRefused("http://example.com/", "EXAMPLE.com"));
  assert.ok(!isRefused("http://example.com./", "example.com"));
  assert.ok(isRefused("http://sub.example.com/", "example.com"));
  assert.ok(!isRefused("http://10.1.2.3:8080/", "10.0.0.0/8"));
  assert.ok(isRefused("http://11.1.2.3:8080/", "10.0.0.0/8"));
  assert.ok(!isRefused("http://[fd12::1]/", "fd12::/16"));
  assert.ok(!isRefused("http://127.0.0.1/", "127.0.0.1"));
  assert.ok(!isRefused("http://[::1]/", "[::1]"));
});

/** Spellings of IPv4 addresses, all of them accepted by some program. */
const NUMBERS = [
  ...["2130706433", "0x7f000001", "0X7F000001", "017700000001", "0x7f.0.0.1", "0177.0.0.1", "0177.0.0.01", "127.1", "127.0.1"],
  ...[
    "0x7f.1",
    "127.0x1",
    "127.000.000.001",
    "0000127.0.0.1",
    "127.0.0.0x1",
    "127.0.0.1.",
    "2130706433.",
    "0",
    "0x",
    "0x0",
    "00",
  ],
  ...["１２７.0.0.1", "①②⑦.0.0.1", "127。0。0。1", "127．0．0．1", "%31%32%37.0.0.1", "127.0.0.%31", "2852039166", "0xa9fea9fe"],
  ...["134744072", "0x08080808", "8.8.2056", "010.010.010.010", "8.8.8.8."],
];

test("a host that is a number in any form but dotted decimal is refused, whatever is allowed", () => {
  for (const host of NUMBERS) {
    for (const url of [`https://${host}`, `https://${host}/`, `https://${host}:443/x`, `http://${host}?x`, `https://${host}#x`]) {
      for (const allow of [[], EVERYTHING, parseWebhookAllow("127.0.0.1,localhost")]) {
        assert.match(errorInWebhookUrl(url, allow) ?? "accepted", /^must have a name as its host/, url);
      }
    }
  }
});

test("localhost is refused in every spelling, unless it is opened by name", () => {
  for (const host of ["localhost", "LOCALHOST", "localhost.", "a.localhost", "a.b.LocalHost.", "ⓛocalhost", "loc%61lhost"]) {
    const error = errorInWebhookUrl(`https://${host}/`, []) ?? "accepted";
    const [, entry = ""] =
      /^must not be at localhost: set WEBHOOK_ALLOW=(\S+) for the service, and restart it$/.exec(error) ?? [];
    assert.ok(!isRefused(`https://${host}/`, entry), error);
    assert.ok(isRefused(`https://${host}:8443/`, "127.0.0.0/8,::1"));
  }
  assert.ok(!isRefused("http://localhost:3000/", "localhost"));
  assert.ok(!isRefused("https://localhost./", "localhost"));
  assert.ok(isRefused("https://a.localhost/", "localhost"));
});

const NOT_PUBLIC_IPV4 = [
  ...["0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.1", "127.255.255.255"],
  ...["172.16.0.0", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.0.0", "192.168.255.255", "198.18.0.0"],
  ...["198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255"],
];
const NOT_PUBLIC_IPV6 = [
  ...[
    "::",
    "::1",
    "0:0:0:0:0:0:0:1",
    "0000:0000::0001",
    "64:ff9b::8.8.8.8",
    "64:ff9b::7f00:1",
    "100::1",
    "fc00::1",
    "fd12:3456::1",
  ],
  ...["fdff:ffff::1", "fec0::1", "feff::1", "ff02::1", "ff0e::1", "2001:2::1", "2001:10::1", "2001:20::1"],
  ...["2001:db8::1", "3fff::1", "5f00::1", "4000::1", "1::1", "8000::1", "e000::1"],
];
const NEVER = [
  ...["169.254.169.254", "169.254.170.2", "169.254.0.1", "169.254.255.255", "100.100.100.200", "168.63.129.16", "192.0.0.192"],
  ...[
    "fd00:ec2::254",
    "fd00:0ec2:0:0:0:0:0:254",
    "fd00:ec2::23",
    "fd20:ce::254",
    "fd00:42::42",
    "fd00:c1::a9fe:a9fe",
    "fe80::a9fe:a9fe",
    "fe80::1",
    "febf::1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
  ],
  ...["0:0:0:0:0:ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:8.8.8.8", "::127.0.0.1", "::10.0.0.1", "::a9fe:a9fe", "::2"],
  ...[
    "::ffff:0:127.0.0.1",
    "64:ff9b:1::7f00:1",
    "64:ff9b:1:a9fe:a9:fe00::",
    "2002:7f00:1::",
    "2002:a9fe:a9fe::1",
    "2002:808:808::",
  ],
  ...["2001::1", "2001:0:4136:e378:8000:63bf:80ff:fffe"],
];
const urlOf = (address: string, scheme = "https"): string =>
  address.includes(":") ? `${scheme}://[${address}]/` : `${scheme}://${address}/`;

test("addresses that are not public are refused, as they are written and as what a name resolves to", () => {
  for (const address of [...NOT_PUBLIC_IPV4, ...NOT_PUBLIC_IPV6]) {
    assert.match(
      errorInWebhookUrl(urlOf(address), []) ?? "accepted",
      /^must not be at .*, which is not a public address: /,
      address,
    );
    assert.ok(!mayConnectTo(address, "example.com", []), address);
    assert.ok(mayConnectTo(address, "example.com", parseWebhookAllow("example.com")), address);
    assert.ok(!mayConnectTo(address, "example.org", parseWebhookAllow("example.com")), address);
    assert.equal(errorInWebhookUrl(urlOf(address, "http"), EVERYTHING), undefined, address);
  }
});

test("the error says which setting opens an address, and that setting does", () => {
  const notPublic = "must not be at 127.0.0.1, which is not a public address:";
  const set = `${notPublic} set WEBHOOK_ALLOW=127.0.0.1 for the service, and restart it`;
  assert.equal(errorInWebhookUrl("http://127.0.0.1:9000/hook", []), set);
  const add = `${notPublic} add 127.0.0.1 to WEBHOOK_ALLOW of the service, and restart it`;
  assert.equal(errorInWebhookUrl("http://127.0.0.1:9000/hook", parseWebhookAllow("10.0.0.0/8")), add);
  for (const address of [...NOT_PUBLIC_IPV4, ...NOT_PUBLIC_IPV6]) {
    const [, setting = ""] = /WEBHOOK_ALLOW=(\S+) for/.exec(errorInWebhookUrl(urlOf(address), []) ?? "") ?? [];
    assert.ok(!isRefused(urlOf(address, "http"), setting), `${address}: ${setting}`);
  }
  assert.match(errorInWebhookUrl(urlOf("64:ff9b::a9fe:a9fe"), []) ?? "", /never allowed$/);
});

test("public addresses next to refused ranges are accepted", () => {
  for (const address of [
    ...[
      "1.0.0.0",
      "9.255.255.255",
      "11.0.0.0",
      "100.63.255.255",
      "100.128.0.0",
      "126.255.255.255",
      "128.0.0.0",
      "169.253.255.255",
    ],
    ...[
      "169.255.0.0",
      "172.15.255.255",
      "172.32.0.0",
      "192.0.1.0",
      "192.167.255.255",
      "192.169.0.0",
      "198.17.255.255",
      "198.20.0.0",
    ],
    ...["223.255.255.255", "2000::1", "2001:200::1", "2001:db7:ffff::1", "2001:db9::1", "2003::1", "2a00:1450::1", "3ffe::1"],
  ]) {
    assert.equal(errorInWebhookUrl(urlOf(address), []), undefined, address);
    assert.ok(mayConnectTo(address, "example.com", []), address);
  }
});

test("metadata services, and IPv6 addresses that contain an IPv4 address, are refused whatever is allowed", () => {
  for (const address of NEVER) {
    for (const allow of [[], EVERYTHING, parseWebhookAllow(`${address}, example.com`)]) {
      for (const scheme of ["http", "https"]) {
        assert.match(
          errorInWebhookUrl(urlOf(address, scheme), allow) ?? "accepted",
          /^must not be at .* never allowed$/,
          address,
        );
      }
      assert.ok(!mayConnectTo(address, "example.com", allow), address);
    }
  }
});

test("NAT64 can be opened; the IPv4 address inside must then be permitted as well", () => {
  const allow = parseWebhookAllow("64:ff9b::/96");
  assert.ok(!mayConnectTo("64:ff9b::808:808", "example.com", []));
  assert.ok(mayConnectTo("64:ff9b::808:808", "example.com", allow));
  for (const inner of [...NOT_PUBLIC_IPV4, ...NEVER.filter((address) => !address.includes(":"))]) {
    assert.ok(!mayConnectTo(`64:ff9b::${inner}`, "example.com", allow), inner);
  }
  assert.ok(mayConnectTo("64:ff9b::10.0.0.1", "example.com", parseWebhookAllow("64:ff9b::/96, 10.0.0.0/8")));
  assert.ok(!mayConnectTo("64:ff9b::a9fe:a9fe", "example.com", EVERYTHING));
  assert.ok(!mayConnectTo("64:ff9b::a9fe:a9fe", "example.com", parseWebhookAllow("example.com")));
});

test("what is not an address, or has a zone, is not connected to", () => {
  for (const address of ["", "example.com", "127.1", "fe80::1%eth0", "::1%lo", "[::1]", "1.2.3.4/8"]) {
    assert.ok(!mayConnectTo(address, "example.com", EVERYTHING), address);
    assert.ok(!mayConnectTo(address, "example.com", parseWebhookAllow("example.com")), address);
  }
});

/** IPv4 addresses as text, and how a program without these rules would read any number form of them. */
const bytes = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255));
const radix = (value: number, how: number): string =>
  how === 0 ? `0x${value.toString(16)}` : how === 1 ? `0${value.toString(8)}` : String(value);

test("no spelling of an IPv4 address but its own is accepted", () => {
  const spellings = fc.tuple(bytes, fc.integer({ min: 1, max: 4 }), fc.array(fc.nat(2), { minLength: 4, maxLength: 4 }));
  fc.assert(
    fc.property(spellings, ([parts, count, how]) => {
      const last = parts.slice(count - 1).reduce((sum, byte) => sum * 256 + byte, 0);
      const host = [...parts.slice(0, count - 1), last].map((part, i) => radix(part, how[i] ?? 2)).join(".");
      const canonical = parts.join(".");
      assert.equal(new URL(`https://${host}`).hostname, canonical);
      const error = errorInWebhookUrl(`https://${host}/`, EVERYTHING);
      if (host === canonical) assert.equal(error === undefined, mayConnectTo(canonical, canonical, EVERYTHING));
      else assert.match(error ?? "accepted", /^must have a name/);
    }),
    { numRuns: 2000 },
  );
});

test("an IPv6 address is judged alike in every spelling", () => {
  const groups = fc.array(fc.oneof(fc.constantFrom(0, 1, 0xffff, 0x64, 0xff9b, 0xfe80, 0xfd00, 0x2001, 0x2002), fc.nat(0xffff)), {
    minLength: 8,
    maxLength: 8,
  });
  fc.assert(
    fc.property(groups, (list) => {
      const long = list.map((group) => group.toString(16).padStart(4, "0").toUpperCase()).join(":");
      const short = new URL(`https://[${long}]`).hostname.slice(1, -1);
      const [high = 0, low = 0] = list.slice(6);
      const mixed = `${long.split(":").slice(0, 6).join(":")}:${[high >> 8, high & 255, low >> 8, low & 255].join(".")}`;
      const verdicts = [long, short, mixed].map((address) => [
        mayConnectTo(address, "example.com", []),
        mayConnectTo(address, "example.com", EVERYTHING),
        errorInWebhookUrl(urlOf(address), []) === undefined,
      ]);
      assert.deepEqual(verdicts[1], verdicts[0], long);
      assert.deepEqual(verdicts[2], verdicts[0], long);
      if ((list[0] ?? 0) >> 13 !== 1) assert.equal(verdicts[0]?.[0], false, "outside 2000::/3");
    }),
    { numRuns: 2000 },
  );
});

test("a host without a name is refused", () => {
  for (const url of ["https://.", "https://..", "https://.example.com", "https://example..com/", "https://./x"]) {
    assert.match(errorInWebhookUrl(url, []) ?? "accepted", /^must be a URL/, url);
  }
});

test("any text gets a verdict, and an accepted one is parsed to the host that was judged", () => {
  const text = fc.oneof(
    fc.webUrl(),
    fc.string({ unit: "binary" }).map((s) => `https://${s}`),
    fc.stringMatching(/^https?:[/\\]{0,3}[0-9a-fx.:@[\]%]{0,20}[/?#]?$/),
  );
  fc.assert(
    fc.property(text, (url) => {
      if (errorInWebhookUrl(url, []) !== undefined) return;
      const { protocol, hostname, username, password } = new URL(url);
      assert.deepEqual([protocol, username, password], ["https:", "", ""]);
      if (/^[\d.]+$|^\[/.test(hostname)) assert.ok(mayConnectTo(hostname.replace(/[[\]]/g, ""), hostname, []));
    }),
    { numRuns: 3000 },
  );
});

test("a masked URL has neither path, query, fragment nor user", () => {
  assert.equal(maskedUrl("https://user:pw@example.com:8443/hooks/secret?token=x#y"), "https://example.com:8443");
  assert.equal(maskedUrl("https://[2606:4700::1]/x"), "https://[2606:4700::1]");
  assert.equal(maskedUrl("nonsense with a secret"), "");
});
