// A naive reading of list parameters and a naive page: slow, plain, and sharing nothing with the service.

export type NaiveItem = { readonly id: string; readonly created: number; readonly email: string };

/** Seconds since 1970, and the digits after the point. */
type Moment = { readonly seconds: bigint; readonly fraction: string };
type Asked = { size: number; page: number; gte?: Moment; lte?: Moment; email?: string };

/** Undefined: such a request must be refused. */
export function naiveReading(query: string, form: string): Asked | undefined {
  const asked: Asked = { size: 10, page: 1 };
  const given: string[] = [];
  for (const pair of [...query.split("&"), ...form.split("&")]) {
    if (pair === "") continue;
    const [rawName = "", ...rest] = pair.split("=");
    const [name, value] = [decoded(rawName), decoded(rest.join("="))];
    if (name === undefined || value === undefined || given.includes(name)) return undefined;
    given.push(name);
    if (!take(asked, name, value)) return undefined;
  }
  return asked;
}

function take(asked: Asked, name: string, value: string): boolean {
  if (name === "size" || name === "page") {
    if (!/^[0-9]+$/.test(value) || String(BigInt(value)) !== value) return false;
    const number = BigInt(value);
    if (number < 1n || number > (name === "size" ? 100n : 2_147_483_647n)) return false;
    asked[name] = Number(number);
    return true;
  }
  if (name === "created_at_gte" || name === "created_at_lte") {
    const moment = naiveMoment(value);
    if (moment === undefined) return false;
    asked[name === "created_at_gte" ? "gte" : "lte"] = moment;
    return true;
  }
  if (name !== "email") return false;
  asked.email = value;
  return !/\p{Cc}/u.test(value);
}

/** Byte by byte; undefined where it is no percent-encoded UTF-8. */
function decoded(text: string): string | undefined {
  const bytes: number[] = [];
  const source = Buffer.from(text);
  for (let i = 0; i < source.length; i++) {
    const byte = source[i] ?? 0;
    if (byte === 0x2b) bytes.push(0x20);
    else if (byte !== 0x25) bytes.push(byte);
    else {
      const hex = source.subarray(i + 1, i + 3).toString("latin1");
      if (!/^[0-9a-fA-F]{2}$/.test(hex)) return undefined;
      bytes.push(Number.parseInt(hex, 16));
      i += 2;
    }
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes));
  } catch {
    return undefined;
  }
}

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const isLeap = (year: number) => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;

function naiveMoment(text: string): Moment | undefined {
  const bare = /^([0-9]{4})-([0-9]{2})-([0-9]{2})$/.exec(text);
  const full =
    /^([0-9]{4})-([0-9]{2})-([0-9]{2})[tT]([0-9]{2}):([0-9]{2}):([0-9]{2})(\.[0-9]+)?([zZ]|[-+ ][0-9]{2}:[0-9]{2})?$/.exec(text);
  const parts = bare ?? full;
  if (parts === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.slice(1, 7).map(Number);
  const last = month === 2 && isLeap(year) ? 29 : (DAYS[month - 1] ?? 0);
  if (day < 1 || day > last || hour > 23 || minute > 59 || second > 59) return undefined;
  let days = 0;
  for (let y = 1970; y < year; y++) days += isLeap(y) ? 366 : 365;
  for (let y = year; y < 1970; y++) days -= isLeap(y) ? 366 : 365;
  for (let m = 1; m < month; m++) days += m === 2 && isLeap(year) ? 29 : (DAYS[m - 1] ?? 0);
  const offset = parts[8] ?? "Z";
  let shift = 0;
  if (!/^[zZ]$/.test(offset)) {
    const [hours = 99, minutes = 99] = offset.slice(1).split(":").map(Number);
    if (hours > 23 || minutes > 59) return undefined;
    shift = (hours * 60 + minutes) * 60 * (offset.startsWith("-") ? -1 : 1);
  }
  const seconds = ((days + day - 1) * 24 + hour) * 3600 + minute * 60 + second - shift;
  return { seconds: BigInt(seconds), fraction: (parts[7] ?? ".").slice(1) };
}

/** Below, at or above zero as `a` lies before, at or after `b`. */
function compare(a: Moment, b: Moment): number {
  if (a.seconds !== b.seconds) return a.seconds < b.seconds ? -1 : 1;
  const length = Math.max(a.fraction.length, b.fraction.length);
  const [x, y] = [a.fraction.padEnd(length, "0"), b.fraction.padEnd(length, "0")];
  return x === y ? 0 : x < y ? -1 : 1;
}

function momentOf(created: number): Moment {
  const seconds = Math.floor(created / 1000);
  return { seconds: BigInt(seconds), fraction: String(created - seconds * 1000).padStart(3, "0") };
}

export function naivePage(items: readonly NaiveItem[], { size, page, gte, lte, email }: Asked) {
  const found = items
    .filter(({ created }) => gte === undefined || compare(momentOf(created), gte) >= 0)
    .filter(({ created }) => lte === undefined || compare(momentOf(created), lte) <= 0)
    .filter((item) => email === undefined || item.email === email)
    .toSorted((a, b) => b.created - a.created || Buffer.compare(Buffer.from(b.id), Buffer.from(a.id)));
  const ids = found.slice((page - 1) * size, page * size).map(({ id }) => id);
  return { ids, page, size, total_items: found.length, total_pages: Math.ceil(found.length / size) };
}
