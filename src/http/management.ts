// What an operator does, over HTTP or from the command line. The one place where commands are executed and a CommandError
// becomes a RequestError.

import { DEFAULT_ALERT_SETTINGS } from "../domain/alerts/evaluate.ts";
import { newWebhookSecret } from "../domain/alerts/webhook-signature.ts";
import type { WebhookAllow } from "../domain/alerts/webhook-url.ts";
import { chunksOf } from "../domain/chunks.ts";
import {
  type Command,
  type CommandError,
  type CommandResult,
  type Commands,
  type IdempotencyKey,
  INCOMPLETE,
  isCommandError,
  type Provision,
} from "../domain/commands/command.ts";
import { commandOfNextPart } from "../domain/commands/customers.ts";
import { MAX_RECOVERED } from "../domain/commands/notifications.ts";
import { type FieldError, hasCode, RequestError } from "../domain/errors.ts";
import { FairQueue } from "../domain/fair-queue.ts";
import { newId } from "../domain/id.ts";
import { type Clock, formatInstant, type Instant } from "../domain/instant.ts";
import { hashSecret, newSecret } from "../domain/key.ts";
import type { ManagementReads } from "../domain/management-reads.ts";
import type { AccountKey, SessionReads } from "../domain/session.ts";
import { signInUrl } from "../domain/sign-in.ts";
import type { Writes } from "../domain/store.ts";

type ManagementStore = ManagementReads & SessionReads & Pick<Writes, "execute">;

export type Executed = Exclude<CommandResult, CommandError>;
/** A key or channel. Its secret is shown once: null where the creation is replayed, and for e-mail. */
export type CreatedWithSecret = Executed & { readonly secret: string | null };

type ManagementSettings = {
  readonly webhookAllow: WebhookAllow;
  /** The settings that are missing to send mail. */
  readonly missingForMail: readonly string[];
  /** Where links in mail lead. */
  readonly publicUrl: string | null;
  /** Milliseconds without a reading after which a tank is silent. */
  readonly silentAfter: number;
  /** Says in messages whose settings these are, if perhaps not those of the service. */
  readonly note?: string;
};
export type SignInLink = {
  readonly object: "sign_in_link";
  readonly user_id: string | null;
  readonly customer_id: string | null;
  readonly url: string;
  readonly expires_at: string;
};

const NO_SETTINGS: ManagementSettings = {
  webhookAllow: [],
  missingForMail: [],
  publicUrl: null,
  silentAfter: DEFAULT_ALERT_SETTINGS.silentAfter,
};

/** A message that is true with these settings. */
export function bySettings({ note }: ManagementSettings, message: string): string {
  return note === undefined ? message : `${note}: ${message}`;
}

/** Why no mail is sent. */
export function mailProblem(settings: ManagementSettings): string {
  const { missingForMail } = settings;
  const names = new Intl.ListFormat("en-GB").format(missingForMail);
  return bySettings(settings, `No mail is sent: ${names} ${missingForMail.length === 1 ? "is" : "are"} not set.`);
}

/** Whether a URL is permitted depends on WEBHOOK_ALLOW. */
function withSettings(error: FieldError, settings: ManagementSettings): FieldError {
  const isBySettings = settings.note !== undefined && error.message.includes("WEBHOOK_ALLOW");
  return isBySettings ? { ...error, message: bySettings(settings, `${error.message}.`) } : error;
}

/** Commands that the store has at a time: others, and readings, wait behind them. */
const MAX_COMMANDS = 4;

/** `by` is whom the audit log names: the id of a key or an account, or one of ACTORS. */
export class ManagementService {
  readonly clock: Clock;
  readonly reads: ManagementReads & SessionReads;
  readonly settings: ManagementSettings;
  readonly #store: ManagementStore;
  readonly #commands = new FairQueue(MAX_COMMANDS);

  constructor(store: ManagementStore, clock: Clock, settings = NO_SETTINGS) {
    this.clock = clock;
    this.settings = settings;
    this.reads = store;
    this.#store = store;
  }

  newId(prefix: "cus" | "tank" | "msg" | "usr"): string {
    return newId(prefix, this.clock());
  }

  /** Many tanks of a customer are deleted or restored in parts, so that readings are stored in between. */
  async execute(command: Command, by: string, idempotencyKey?: IdempotencyKey): Promise<Executed> {
    for (let part = command; ; ) {
      const executed = await this.#executePart(part, by, idempotencyKey);
      const next = commandOfNextPart(part, executed.resource);
      if (next === undefined) return executed;
      part = next;
    }
  }

  async #executePart(command: Command, by: string, idempotencyKey?: IdempotencyKey): Promise<Executed> {
    const result = await this.#commands.run(by, () => this.#store.execute(command, { by, at: this.clock() }, idempotencyKey));
    if (!isCommandError(result)) return result;
    const { errors } = result;
    throw errorOf(errors === undefined ? result : { ...result, errors: errors.map((one) => withSettings(one, this.settings)) });
  }

  /** Sends a link to the address of a customer. */
  requestVerification(id: string, by: string, idempotencyKey?: IdempotencyKey): Promise<Executed> {
    const { missingForMail, publicUrl } = this.settings;
    if (publicUrl === null || missingForMail.length > 0) {
      throw new RequestError("state_conflict", mailProblem(this.settings));
    }
    return this.execute({ type: "request_verification", id, newId: this.newId("msg"), publicUrl }, by, idempotencyKey);
  }

  /** A link for one account, to be used without mail. Without PUBLIC_URL it is a path of the service. */
  async createSignInLink(account: AccountKey, by: string): Promise<SignInLink> {
    const token = newSecret();
    const { resource } = await this.execute({ type: "create_sign_in_link", account, hash: hashSecret(token) }, by);
    return { ...(resource.object as Omit<SignInLink, "url">), url: signInUrl(this.settings.publicUrl ?? "", token) };
  }

  /** All rows are checked first. Many are then written in parts, so that readings are stored in between. */
  async provision(rows: Provision, isDryRun: boolean, by: string, idempotencyKey?: IdempotencyKey): Promise<Executed> {
    if (rows.customers.length + rows.tanks.length <= ROWS_TOGETHER) {
      return this.execute({ type: "provision", ...rows, isDryRun }, by, idempotencyKey);
    }
    const checked = await this.#store.checkProvision(rows, { by, at: this.clock() }, idempotencyKey);
    if (isCommandError(checked)) throw errorOf(checked);
    if ("replayed" in checked) return checked;
    const { resource, deviceChanges } = checked;
    if (isDryRun) return { resource, replayed: false };
    for (const part of partsOf(rows, deviceChanges)) {
      await this.#writePart({ ...part, isDryRun, result: INCOMPLETE }, by, idempotencyKey);
    }
    // The last part has no rows: it saves the result of all.
    const result = { ...resource.object, dry_run: false };
    return this.#writePart({ customers: [], tanks: [], isDryRun, result }, by, idempotencyKey);
  }

  /** The rows are valid, unless something else has changed meanwhile. */
  async #writePart(part: Commands["provision"], by: string, idempotencyKey?: IdempotencyKey): Promise<Executed> {
    try {
      return await this.execute({ type: "provision", ...part }, by, idempotencyKey);
    } catch (error) {
      if (!hasCode(error, "body_invalid")) throw error;
      const detail = `Another change made a row invalid after the first rows were written (${error.errors?.[0]?.message}). Send the request again.`;
      throw new RequestError("state_conflict", detail);
    }
  }

  async createKey(fields: unknown, by: string, idempotencyKey?: IdempotencyKey): Promise<CreatedWithSecret> {
    const secret = newSecret();
    const command = { type: "create_key", newId: newId("key", this.clock()), fields, hash: hashSecret(secret) } as const;
    const executed = await this.execute(command, by, idempotencyKey);
    return { ...executed, secret: executed.replayed ? null : secret };
  }

  /** The new key lives as long as the old one did; the old one works for `overlap` more milliseconds. */
  async rotateKey(id: string, overlap: number, by: string): Promise<CreatedWithSecret> {
    const secret = newSecret();
    const command = { type: "rotate_key", id, overlap, newId: newId("key", this.clock()), hash: hashSecret(secret) } as const;
    return { ...(await this.execute(command, by)), secret };
  }

  async createChannel(fields: unknown, by: string, idempotencyKey?: IdempotencyKey): Promise<CreatedWithSecret> {
    const secret = newWebhookSecret();
    const { webhookAllow } = this.settings;
    const command = { type: "create_channel", newId: newId("chn", this.clock()), fields, secret, webhookAllow } as const;
    const executed = await this.execute(command, by, idempotencyKey);
    const isShown = !executed.replayed && executed.resource.object["type"] === "webhook";
    return { ...executed, secret: isShown ? secret : null };
  }

  /** The old secret signs, too, for `overlap` more milliseconds. */
  async rotateChannel(id: string, overlap: number, by: string): Promise<CreatedWithSecret> {
    const secret = newWebhookSecret();
    return { ...(await this.execute({ type: "rotate_channel", id, overlap, secret }, by)), secret };
  }

  /** Returns how many are sent again. */
  recoverChannel(id: string, fields: unknown, by: string): Promise<number> {
    const failedBy = this.clock();
    return this.#recoverAll(fields, by, (given) => ({ type: "recover_channel", id, fields: given, failedBy }));
  }

  /** Mail to customers. Returns how many are sent again. */
  recoverMail(fields: unknown, by: string): Promise<number> {
    const failedBy = this.clock();
    return this.#recoverAll(fields, by, (given) => ({ type: "recover_mail", fields: given, failedBy }));
  }

  /** In parts, so that readings are stored in between. */
  async #recoverAll(fields: unknown, by: string, commandFor: (fields: unknown) => Command): Promise<number> {
    let total = 0;
    for (let given = fields; ; ) {
      const { resource } = await this.execute(commandFor(given), by);
      const { recovered, until } = resource.object as { recovered: number; until: Instant | null };
      total += recovered;
      if (recovered < MAX_RECOVERED || until === null) return total;
      given = { ...(fields as object), since: formatInstant(until) };
    }
  }
}

const errorOf = ({ error, detail, ...more }: CommandError): RequestError => new RequestError(error, detail, more);

/** Up to this many rows are written in one transaction. */
const ROWS_TOGETHER = 1000;
/** Rows per transaction if there are more than that. Readings have to wait for each transaction. */
const PART_ROWS = 250;

/** Customers before their tanks, and tanks that get another device before those that may get the old one. */
function partsOf({ customers, tanks }: Provision, deviceChanges: readonly (readonly number[])[]): Provision[] {
  const changed = new Set(deviceChanges.flat());
  const others = tanks.flatMap((_, i) => (changed.has(i) ? [] : [[i]]));
  return [
    ...chunksOf(customers, PART_ROWS).map((part) => ({ customers: part, tanks: [] })),
    ...inParts([...deviceChanges, ...others]).map((part) => ({ customers: [], tanks: part.flatMap((i) => tanks[i] ?? []) })),
  ];
}

/** Groups are not divided: only a large one makes a part of more rows. */
function inParts(groups: readonly (readonly number[])[]): number[][] {
  const parts: number[][] = [];
  for (const group of groups) {
    const last = parts.at(-1);
    if (last !== undefined && last.length + group.length <= PART_ROWS) last.push(...group);
    else parts.push([...group]);
  }
  return parts;
}
