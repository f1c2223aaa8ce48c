// tank-monitor provision FILE…

import { UserError } from "../domain/errors.ts";
import { isObject } from "../domain/validate.ts";
import { type Call, print, say } from "./command.ts";
import { managing } from "./managing.ts";
import { Problem } from "./problem.ts";
import { Sheets } from "./provision/sheets.ts";
import { type Item, pathTo, type Service } from "./request.ts";
import { clean } from "./width.ts";

const ROWS_MOST = 50_000;
/** More than anyone mends at once. */
const TOLD_MOST = 100;
const CHANGES_TOLD = 20;
/** From here on it may take longer than a moment. */
const LARGE = 2000;

export const provision = managing({
  name: "provision",
  summary: "create or change many customers and tanks from CSV files",
  usage: "FILE… [--dry-run] [--json]",
  help: `Takes customers and tanks from CSV files, up to ${ROWS_MOST.toLocaleString("en")} rows in all; - is stdin. The first line of a file names its columns, as the
interface does, and so tells which it has: id,email,name,phone,is_verified,verified_at for customers;
id,owner_id,assigned_device_id,name,capacity,capacity_unit,min_fill_alert_percentage,custom_id,use_case,city,country,district,
latitude,longitude,postal_code,region,street,street_number and shape (as JSON) for tanks. An id that is known changes what is
there; an empty cell changes nothing, and a column that is left out neither. All files together are judged before anything is
written, and all is written or nothing. Of what changes, the first 20 fields are shown; --json has 100.

  --dry-run   judges, shows what would change, and writes nothing
  --json      prints the summary as JSON

Exit 1 if anything is wrong in the files.`,
  example: "provision customers.csv tanks.csv --dry-run",
  most: Number.POSITIVE_INFINITY,
  flags: { "dry-run": { type: "boolean" }, json: { type: "boolean" } },
  isFirst: true,
  plan(call) {
    if (call.arguments.length === 0) throw new UserError("provision: name at least one file, or - for stdin", 2);
    const sheets = new Sheets();
    for (const file of call.arguments) sheets.add(file);
    if (sheets.count > ROWS_MOST) throw tooMany(sheets.count);
    if (sheets.faults.length > 0 && !sheets.canBeJudged) throw faulty(sheets.faults);
    return (service) => judged(service, call, sheets);
  },
});

async function judged(service: Service, call: Call, sheets: Sheets): Promise<number> {
  if (sheets.count > LARGE) say(`judging ${sheets.count.toLocaleString("en")} rows …`);
  const { customers, tanks } = sheets;
  const query = { dry_run: String(call.flags["dry-run"] === true || sheets.faults.length > 0) };
  try {
    const outcome = await service.ask({
      method: "POST",
      path: pathTo("provision"),
      query,
      body: { customers, tanks },
      makes: true,
    });
    if (sheets.faults.length > 0) throw faulty(sheets.faults);
    if (call.flags["json"] === true) {
      print(JSON.stringify(outcome));
      return 0;
    }
    for (const line of changesIn(outcome, sheets)) print(clean(line));
    print(words(outcome));
    return 0;
  } catch (error) {
    if (!(error instanceof Problem) || error.errors.length === 0) throw error;
    const judgement = error.errors.filter((fault) => sheets.isSure(fault)).map((fault) => clean(sheets.told(fault)));
    throw faulty([...sheets.faults, ...judgement]);
  }
}

function tooMany(count: number): UserError {
  const most = ROWS_MOST.toLocaleString("en");
  return new UserError(
    `provision takes at most ${most} rows in all, and these are ${count.toLocaleString("en")}: do it in several turns, customers first`,
  );
}

function faulty(faults: readonly string[]): UserError {
  const [first = ""] = faults;
  if (faults.length === 1) return new UserError(`nothing was written: ${first}`);
  const told = faults.slice(0, TOLD_MOST).map((fault) => `  ${fault}`);
  const more = faults.length > TOLD_MOST ? [`  … and ${faults.length - TOLD_MOST} more`] : [];
  return new UserError([`nothing was written: ${faults.length} things are wrong`, ...told, ...more].join("\n"));
}

function words({ customers, tanks, dry_run }: Item): string {
  const dry = dry_run === true ? " (dry run: nothing was written)" : "";
  return `customers: ${counts(customers)}; tanks: ${counts(tanks)}${dry}`;
}

/** `tanks.csv:3: t-204: name "Hall 3" → "Hall 4"` */
function changesIn({ changes, more_changes }: Item, sheets: Sheets): string[] {
  const all = Array.isArray(changes) ? changes.filter(isObject) : [];
  const lines = all.slice(0, CHANGES_TOLD).map(({ row, id, field, from, to }) => {
    return `${sheets.whereIs(String(row)) ?? row}: ${id}: ${field} ${JSON.stringify(from)} → ${JSON.stringify(to)}`;
  });
  const more = all.length - lines.length + Number(more_changes ?? 0);
  return more > 0 ? [...lines, `… and ${more} more changes`] : lines;
}

function counts(count: unknown): string {
  const { new: made = 0, changed = 0, unchanged = 0 } = isObject(count) ? count : {};
  return `${made} new, ${changed} changed, ${unchanged} unchanged`;
}
