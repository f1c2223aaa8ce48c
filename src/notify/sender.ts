// Sends notifications: claims what is due, sends it, and records the results, many together. Any number of processes may do so
// on one database. Every destination has a queue and a limit of its own, so that a slow receiver holds up nobody else.

import { setTimeout as sleep } from "node:timers/promises";
import { MAIL_DESTINATION } from "../domain/alerts/notification.ts";
import {
  ATTEMPT_MS,
  type AttemptRecord,
  type AttemptResult,
  type ChannelWithSecrets,
  type ClaimedNotification,
  failRecord,
  LEASE_MS,
  type NotificationQueueReads,
  type NotificationQueueWrites,
  type PendingDestination,
  type RecordedAttempts,
  recipientType,
  recordOf,
  releaseRecord,
} from "../domain/alerts/notification-queue.ts";
import { hostOf } from "../domain/alerts/webhook-url.ts";
import { hasCode } from "../domain/errors.ts";
import type { Clock } from "../domain/instant.ts";
import type { Observe } from "../domain/log-events.ts";
import {
  attemptLimit,
  type ClaimPlan,
  type DestinationLoad,
  hasCapacity,
  isIdle,
  planClaims,
  recordResponse,
  wantedClaim,
} from "./claim-limits.ts";

/** What has waited longer since it was claimed is released, so that an attempt is recorded before the lease ends. */
const MAX_WAIT_MS = LEASE_MS - ATTEMPT_MS - 2000;
const POLL_MS = 1000;
/** Results that arrive within this time are recorded together. If that fails, it is tried again after RETRY_MS. */
const RECORD_DELAY_MS = 20;
const RETRY_MS = 1000;
const MAX_RECORDED_TOGETHER = 512;
const MAX_UNRECORDED = 10_000;

/** How a kind of destination is sent to. */
export type NotificationTransport = {
  readonly send: (notification: ClaimedNotification, channel: ChannelWithSecrets | undefined) => Promise<AttemptResult>;
  /** Attempts at a time to one destination. */
  readonly concurrency: number;
  /** Ends attempts in progress with an error. There are none afterwards. */
  readonly interrupt: () => void;
};

type Options = {
  readonly store: Pick<NotificationQueueReads, "pendingDestinations"> & NotificationQueueWrites;
  readonly webhooks: NotificationTransport;
  /** Undefined: no mail is sent; it stays pending. */
  readonly mail: NotificationTransport | undefined;
  readonly clock: Clock;
  readonly observe: Observe;
};

/** A notification from its claim until its result is recorded. */
type OutgoingNotification = {
  readonly notification: ClaimedNotification;
  readonly channel: ChannelWithSecrets | undefined;
  /** Undefined if it may be sent. */
  readonly reasonNotToSend: string | undefined;
  /** Replaced if it is claimed again, as after an outage of the database: it is not sent twice at a time. */
  lease: string;
  /** The latest time at which it may be started. */
  startUntil: number;
};

type Destination = DestinationLoad & {
  readonly transport: NotificationTransport;
  readonly waiting: OutgoingNotification[];
  isGone: boolean;
};

type Result = { readonly outgoing: OutgoingNotification; readonly record: AttemptRecord };

export class NotificationSender {
  readonly #options: Options;
  readonly #outgoing = new Map<string, OutgoingNotification>();
  /** Those with something waiting or in progress, and recent ones. They take turns: the one whose turn it is comes first. */
  readonly #destinations = new Map<string, Destination>();
  readonly #poll: NodeJS.Timeout;
  readonly #attempts = new Set<Promise<void>>();
  /** Whether a destination waits until an attempt of another one ends. */
  #isAtAttemptLimit = false;
  /** Whether the last claim skipped destinations. The next claim begins with `#firstDestination`. */
  #hasSkippedDestinations = false;
  #firstDestination = "";
  #claiming: Promise<void> | undefined;
  #claimAgain = false;
  #results: Result[] = [];
  /** What could not be recorded, as on a damaged page. When such a notification is claimed again, it is recorded, not sent. */
  readonly #unrecorded = new Map<string, AttemptRecord>();
  #recording: Promise<void> | undefined;
  #ending: Promise<void> | undefined;
  #isStopping = false;
  #isInterrupted = false;

  constructor(options: Options) {
    this.#options = options;
    this.#poll = setInterval(() => {
      this.#releaseOverdue();
      this.wake();
    }, POLL_MS);
    this.wake();
  }

  /** Something may be due. */
  wake(): void {
    this.#claimAgain = true;
    this.#claiming ??= this.#claimAll();
  }

  /** What is in progress is finished within the time, or interrupted; the rest is released. */
  async stop(milliseconds: number): Promise<void> {
    this.#isStopping = true;
    clearInterval(this.#poll);
    const timer = setTimeout(() => this.#interrupt(), milliseconds);
    await this.#claiming;
    for (const { waiting } of this.#destinations.values()) {
      for (const outgoing of waiting.splice(0)) this.#finish({ outgoing, record: releaseRecord(outgoing.notification) });
    }
    await Promise.all(this.#attempts);
    clearTimeout(timer);
    await Promise.all([this.#recording, this.#ending]);
  }

  #interrupt(): void {
    this.#isInterrupted = true;
    this.#options.webhooks.interrupt();
    this.#options.mail?.interrupt();
  }

  async #claimAll(): Promise<void> {
    while (this.#claimAgain && !this.#isStopping) {
      this.#claimAgain = false;
      await this.#claim().catch((error: unknown) => this.#reportFailure(error));
    }
    this.#claiming = undefined;
  }

  async #claim(): Promise<void> {
    const { store, clock } = this.#options;
    const pending = await store.pendingDestinations(clock());
    const due = pending.flatMap((destination) => this.#dueDestination(destination));
    const { claims: wanted, skippedDestination } = planClaims(
      due,
      this.#outgoing.size,
      this.#firstDestination,
      performance.now(),
    );
    this.#hasSkippedDestinations = skippedDestination !== undefined;
    this.#firstDestination = skippedDestination ?? "";
    if (wanted.length > 0 && !this.#isStopping) {
      await this.#claimFrom(wanted).catch(async (error: unknown) => {
        if (hasCode(error, "store_unavailable") || wanted.length === 1) throw error;
        // Data of one destination may be damaged: the others are claimed without it.
        for (const claim of wanted) await this.#claimFrom([claim]).catch((alone) => this.#reportFailure(alone));
      });
      if (!this.#isStopping) this.#startAll();
    }
    const inactive = pending.filter(({ isActive }) => !isActive);
    if (inactive.length > 0) this.#ending ??= this.#endAll(inactive);
  }

  async #claimFrom(wanted: ClaimPlan<Destination>["claims"]): Promise<void> {
    const { store, clock } = this.#options;
    const claimedAt = performance.now();
    const requests = wanted.map(({ destination, limit }) => ({ destination: destination.name, limit }));
    const { notifications, channels, reasonsNotToSend } = await store.claimNotifications(requests, clock());
    const claimed = Map.groupBy(notifications, ({ destination }) => destination);
    for (const { destination, limit } of wanted) {
      const claimedHere = claimed.get(destination.name) ?? [];
      destination.claimedAt = claimedAt;
      destination.mayHaveMore = claimedHere.length >= limit;
      for (const notification of claimedHere) {
        const channel = channels.get(notification.channel_id ?? "");
        this.#enqueue(destination, { notification, channel, reasonNotToSend: reasonsNotToSend.get(notification.id) });
      }
      if (destination.waiting.length > 0) this.#destinations.set(destination.name, destination);
    }
  }

  /** The store reports when it is unavailable; polling goes on. */
  #reportFailure(error: unknown): void {
    if (!hasCode(error, "store_unavailable")) this.#options.observe({ kind: "sending_failed", error });
  }

  /** None if nothing may be sent there. */
  #dueDestination({ destination: name, isDue, isActive }: PendingDestination): Destination[] {
    const { webhooks, mail } = this.#options;
    const transport = name === MAIL_DESTINATION ? mail : webhooks;
    if (!isDue || !isActive || transport === undefined) return [];
    const load = { inProgress: 0, claimLimit: transport.concurrency, claimedAt: 0, mayHaveMore: false };
    const known = this.#destinations.get(name);
    if (known?.isGone) return [];
    return [known ?? { name, transport, waiting: [], isGone: false, ...load, respondedAt: Number.NEGATIVE_INFINITY }];
  }

  /** What cannot be started in time any more. Idle destinations are removed. */
  #releaseOverdue(): void {
    const now = performance.now();
    for (const destination of this.#destinations.values()) {
      const { name, waiting } = destination;
      const overdue = waiting.filter(({ startUntil }) => now > startUntil);
      if (overdue.length > 0) waiting.splice(0, waiting.length, ...waiting.filter(({ startUntil }) => now <= startUntil));
      for (const outgoing of overdue) this.#release(destination, outgoing);
      if (isIdle(destination)) this.#destinations.delete(name);
    }
  }

  #release(destination: Destination, outgoing: OutgoingNotification): void {
    destination.claimLimit = destination.transport.concurrency;
    this.#finish({ outgoing, record: releaseRecord(outgoing.notification) });
  }

  #enqueue(destination: Destination, claimed: Pick<OutgoingNotification, "notification" | "channel" | "reasonNotToSend">): void {
    const { id, lease } = claimed.notification;
    const startUntil = destination.claimedAt + MAX_WAIT_MS;
    const existing = this.#outgoing.get(id);
    if (existing !== undefined) {
      Object.assign(existing, { lease, startUntil });
      return;
    }
    const outgoing = { ...claimed, lease, startUntil };
    this.#outgoing.set(id, outgoing);
    destination.waiting.push(outgoing);
  }

  /** In turns. A destination that is served moves to the end, where this loop finds it again. */
  #startAll(): void {
    this.#isAtAttemptLimit = false;
    for (const destination of this.#destinations.values()) {
      if (!this.#mayStart(destination)) continue;
      this.#destinations.delete(destination.name);
      this.#destinations.set(destination.name, destination);
      this.#startNext(destination);
    }
  }

  #mayStart(destination: Destination): boolean {
    const { waiting, inProgress, transport } = destination;
    if (waiting.length === 0 || inProgress >= transport.concurrency) return false;
    const mayStart = this.#attempts.size < attemptLimit(destination, performance.now());
    if (!mayStart) this.#isAtAttemptLimit = true;
    return mayStart;
  }

  #startNext(destination: Destination): void {
    const outgoing = destination.waiting.shift();
    if (outgoing === undefined) return;
    const { notification, channel, reasonNotToSend, startUntil } = outgoing;
    if (performance.now() > startUntil) {
      this.#release(destination, outgoing);
    } else if (reasonNotToSend !== undefined) {
      this.#finish({ outgoing, record: failRecord(notification, this.#options.clock(), reasonNotToSend) });
    } else if (notification.channel_id !== null && channel?.state !== "active") {
      this.#finish({ outgoing, record: failRecord(notification, this.#options.clock()) });
    } else {
      destination.inProgress++;
      const attempt = this.#attempt(destination, outgoing).finally(() => {
        this.#attempts.delete(attempt);
        this.#startAfter(destination);
      });
      this.#attempts.add(attempt);
    }
    this.#claimMoreFor(destination);
  }

  /** Claims more before the queue is empty. */
  #claimMoreFor(destination: Destination): void {
    if (destination.mayHaveMore && wantedClaim(destination, performance.now()) > 0) this.wake();
  }

  async #attempt(destination: Destination, outgoing: OutgoingNotification): Promise<void> {
    const { clock, observe } = this.#options;
    const { notification, channel } = outgoing;
    if (this.#unrecorded.has(notification.id)) return this.#finish({ outgoing, record: releaseRecord(notification) });
    const at = clock();
    const startedAt = performance.now();
    const result = await destination.transport.send(notification, channel).catch((error: unknown): AttemptResult => {
      observe({ kind: "sending_failed", error });
      return { status: null, error: "an internal error" };
    });
    const { status, error } = result;
    recordResponse(destination, startedAt, performance.now());
    const attempt = { at, status, duration_ms: Math.round(performance.now() - startedAt), error };
    const record =
      this.#isInterrupted && error !== null
        ? releaseRecord(notification)
        : recordOf(notification, attempt, result, Math.random());
    this.#finish({ outgoing, record });
    if (result.isGone !== true) return;
    // The channel is disabled with this record. Until then, nothing more is claimed for it.
    destination.isGone = true;
    for (const waiting of destination.waiting.splice(0)) this.#release(destination, waiting);
  }

  /** An attempt has ended. */
  #startAfter(destination: Destination): void {
    destination.inProgress--;
    if (this.#isStopping) return;
    if (this.#isAtAttemptLimit) this.#startAll();
    else while (this.#mayStart(destination)) this.#startNext(destination);
    this.#claimMoreFor(destination);
  }

  #finish({ outgoing, record }: Result): void {
    this.#results.push({ outgoing, record: this.#unrecorded.get(record.id) ?? record });
    this.#recording ??= this.#recordAll();
  }

  async #recordAll(): Promise<void> {
    do {
      await sleep(RECORD_DELAY_MS);
      const results = this.#results.splice(0, MAX_RECORDED_TOGETHER);
      const isRecorded = await this.#record(results);
      if (isRecorded) continue;
      // Without a record they are sent again when their leases end.
      if (this.#isStopping) break;
      this.#results.unshift(...results);
      await sleep(RETRY_MS);
    } while (this.#results.length > 0);
    this.#recording = undefined;
  }

  /** False while the database is unavailable. A result that cannot be recorded is dropped: it does not hold up the others. */
  async #record(results: readonly Result[]): Promise<boolean> {
    const { store, clock, observe } = this.#options;
    const records = results.map(({ outgoing, record }) => ({ ...record, lease: outgoing.lease }));
    try {
      this.#recorded(results, await store.recordAttempts(records, clock()));
      return true;
    } catch (error) {
      if (hasCode(error, "store_unavailable")) return false;
      if (results.length > 1) {
        const middle = results.length >> 1;
        return (await this.#record(results.slice(0, middle))) && (await this.#record(results.slice(middle)));
      }
      for (const { record } of results) {
        this.#outgoing.delete(record.id);
        if (this.#unrecorded.size < MAX_UNRECORDED) this.#unrecorded.set(record.id, record);
      }
      observe({ kind: "sending_failed", error });
      return true;
    }
  }

  #recorded(results: readonly Result[], { recorded, disabled }: RecordedAttempts): void {
    for (const { outgoing, record } of results) {
      this.#outgoing.delete(record.id);
      this.#unrecorded.delete(record.id);
      if (recorded.has(record.id)) this.#report(outgoing, record);
    }
    for (const { id: channelId, type, url, reason } of disabled) {
      this.#options.observe({ kind: "channel_disabled", channelId, type, host: hostOf(url), reason });
    }
    if (disabled.length > 0 || (this.#hasSkippedDestinations && hasCapacity(this.#outgoing.size))) this.wake();
  }

  #report({ notification, channel }: OutgoingNotification, { id, state, attempts }: AttemptRecord): void {
    const attempt = attempts.length > notification.attempts.length ? attempts.at(-1) : undefined;
    if (state === "pending" && attempt === undefined) return;
    const { observe } = this.#options;
    const recipient = recipientType(notification);
    const { channel_id: channelId } = notification;
    if (state === "delivered") {
      observe({ kind: "notification_delivered", id, recipient, channelId, milliseconds: attempt?.duration_ms ?? 0 });
      return;
    }
    // The reply of a mail server may contain the address.
    const reason = recipient === "webhook" ? (attempt?.error ?? null) : null;
    const outcome = state === "pending" ? "retried" : "failed";
    const host = hostOf(channel?.url ?? null);
    observe({ kind: "notification_failed", id, recipient, channelId, outcome, host, status: attempt?.status ?? null, reason });
  }

  /** Ends the pending notifications of disabled or deleted channels. Runs beside the sending, as there may be very many. */
  async #endAll(inactive: readonly PendingDestination[]): Promise<void> {
    const { store, clock, observe } = this.#options;
    try {
      for (const { destination } of inactive) {
        for (let count = 1; count > 0 && !this.#isStopping; ) {
          count = await store.endPending(destination, clock());
          if (count > 0) observe({ kind: "notifications_ended", recipient: "webhook", outcome: "failed", count });
        }
      }
    } catch (error) {
      this.#reportFailure(error);
    }
    this.#ending = undefined;
  }
}
