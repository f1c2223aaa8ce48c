// tank-monitor simulate

import { UserError } from "../domain/errors.ts";
import { type Fleet, type SeededFleet, seededFleet } from "../simulate/fleet.ts";
import { type HttpClient, httpClient, httpTransport, isReachable } from "../simulate/http.ts";
import { mqttTransport } from "../simulate/mqtt.ts";
import { canManage, canRead, provision } from "../simulate/provision.ts";
import { ReadingLog, type Summary, Tally, type Verification, verify } from "../simulate/results.ts";
import { MAKERS } from "../simulate/sensors.ts";
import { simulate as run, type Transport } from "../simulate/simulation.ts";
import { type Command, print, say } from "./command.ts";
import { Progress } from "./progress.ts";
import { type Wishes, wishesOf } from "./simulate-wishes.ts";

const TOLD_MS = 1000;
/** How long what is under way at the end is waited for. */
const PATIENCE_MS = 30_000;
const SIGNALS = ["SIGINT", "SIGTERM"] as const;

export const simulate: Command = {
  name: "simulate",
  summary: "let simulated devices send readings to a service",
  usage: "--url URL | --mqtt URL [--tanks N] [--rate R] [--seed S] [--duration SPAN] [options]",
  help: `Devices of several makers report in turn over HTTP or MQTT. Some are cut off for a while and send their backlog later, some
messages come twice; what is not acknowledged is sent again. Ctrl-C, or the end of --duration, ends it with a summary.
  --url URL          the service, such as http://127.0.0.1:8080
  --mqtt URL         a broker instead, such as mqtt://127.0.0.1:1883; with --url too, tanks are registered over HTTP
  --key KEY          what to send with: an ingest key (or TANK_MONITOR_KEY)
  --manage-key KEY   registers the customers, tanks and devices (or TANK_MONITOR_MANAGE_KEY); without it, or a --key that may,
                     readings of devices that have no tank wait in the service
  --tanks N          how many (10)
  --rate R           readings a second, of all of them together (2)
  --seed S           the same seed makes the same fleet and the same course of events (1)
  --duration SPAN    such as 30s or 2h; otherwise until Ctrl-C
  --makers LIST      some of ${MAKERS.join(", ")}
  --verify           at the end, holds the service's telemetry against every reading that was acknowledged; needs --url, and
                     --read-key KEY (or TANK_MONITOR_READ_KEY) where no key may manage
  --json             prints the summary as JSON
Exits with 1 where a reading was rejected or could not be delivered, or the telemetry is not as it must be.`,
  most: 0,
  flags: {
    url: { type: "string" },
    mqtt: { type: "string" },
    key: { type: "string" },
    "manage-key": { type: "string" },
    "read-key": { type: "string" },
    tanks: { type: "string" },
    rate: { type: "string" },
    seed: { type: "string" },
    duration: { type: "string" },
    makers: { type: "string" },
    verify: { type: "boolean" },
    json: { type: "boolean" },
  },
  async run(call) {
    const wishes = wishesOf(call);
    const fleet = seededFleet(wishes.seed, wishes.tanks, wishes.makers);
    const manager = await managerFor(wishes);
    const reader = wishes.verify ? await readerFor(wishes, manager) : undefined;
    if (manager === undefined) say("Nothing is registered: readings of devices that have no tank in the service wait there.");
    else await register(fleet, manager);
    const log = reader === undefined ? undefined : new ReadingLog();
    const summary = await act(wishes, fleet, log);
    const verification = reader === undefined || log === undefined ? undefined : await lookAgain(log, fleet, reader);
    const told = wishes.mqtt === undefined ? summary : asBrokersTell(summary);
    if (call.flags["json"] === true) print(JSON.stringify({ ...told, ...(verification && { verification }) }));
    else tell(told, verification);
    return isFine(summary, verification) ? 0 : 1;
  },
};

/** Somebody who may manage: the one with the manage key, or the sender where its key is one. */
async function managerFor({ url, key, manageKey }: Wishes): Promise<HttpClient | undefined> {
  if (url === undefined) return undefined;
  if (!(await isReachable(url))) throw new UserError(`nothing answers at ${url}. Is the service running, and the port right?`);
  const secret = manageKey ?? key;
  if (secret === undefined) return undefined;
  const call = httpClient(url, secret);
  if (await canManage(call)) return call;
  if (manageKey !== undefined) throw new UserError("the key given as --manage-key has another role than manage");
  return undefined;
}

async function readerFor({ url = "", readKey }: Wishes, manager: HttpClient | undefined): Promise<HttpClient> {
  const call = readKey === undefined ? manager : httpClient(url, readKey);
  if (call === undefined || !(await canRead(call))) throw new UserError("--verify needs a key that may read: --read-key");
  return call;
}

async function register(fleet: SeededFleet, manager: HttpClient): Promise<void> {
  const progress = new Progress("registering tanks");
  await provision(fleet, manager, (done) => progress.show(done, fleet.size, ""));
  progress.end();
}

function transportFor({ url = "", mqtt, key, manageKey }: Wishes): Transport | Promise<Transport> {
  return mqtt === undefined ? httpTransport(httpClient(url, key ?? manageKey ?? "")) : mqttTransport(mqtt, key ?? manageKey);
}

async function act(wishes: Wishes, fleet: Fleet, log: ReadingLog | undefined): Promise<Summary> {
  const { seed, rate, tanks, milliseconds } = wishes;
  const transport = await transportFor(wishes);
  const tally = new Tally(log);
  const ending = endingAfter(milliseconds);
  const told = () => (wishes.mqtt === undefined ? tally.summary() : asBrokersTell(tally.summary()));
  const progress = new Progress("so far:");
  const teller = setInterval(() => {
    progress.show(0, 0, line(told()));
    if (log?.isFull) ending.end();
  }, TOLD_MS);
  say(`${tanks} devices report, ${rate} readings a second over ${wishes.mqtt === undefined ? "HTTP" : "MQTT"}. Ctrl-C ends it.`);
  try {
    await run({ fleet, seed, transport, rate, clock: Date.now, observer: tally, ...ending.signals });
    return tally.summary();
  } catch (error) {
    progress.end();
    say(line(told()));
    throw error;
  } finally {
    progress.end();
    clearInterval(teller);
    ending.forget();
    await transport.close();
  }
}

/** The first signal, or the end of the time, ends it; a second one, or a service that is not back in time, gives up. */
function endingAfter(milliseconds: number | undefined) {
  const [end, hurry] = [new AbortController(), new AbortController()];
  const timers: NodeJS.Timeout[] = [];
  const stop = (): void => {
    if (end.signal.aborted) return;
    end.abort();
    timers.push(setTimeout(() => hurry.abort(), PATIENCE_MS));
  };
  const signalled = (): void => (end.signal.aborted ? hurry.abort() : stop());
  if (milliseconds !== undefined) timers.push(setTimeout(stop, milliseconds));
  for (const signal of SIGNALS) process.on(signal, signalled);
  return {
    signals: { stop: end.signal, abort: hurry.signal },
    end: stop,
    forget(): void {
      for (const timer of timers) clearTimeout(timer);
      for (const signal of SIGNALS) process.off(signal, signalled);
    },
  };
}

async function lookAgain(log: ReadingLog, fleet: Fleet, reader: HttpClient): Promise<Verification> {
  const progress = new Progress("verifying");
  try {
    return await verify(log, fleet, reader, (tanks) => progress.show(tanks, fleet.size, ""));
  } finally {
    progress.end();
  }
}

function isFine({ rejected, undelivered }: Summary, found: Verification | undefined): boolean {
  return rejected + undelivered + (found?.missing ?? 0) + (found?.different ?? 0) + (found?.strange ?? 0) === 0;
}

/** A broker acknowledges, and says no more. */
function asBrokersTell({ measured, sent, resent, acknowledged, undelivered }: Summary) {
  return { measured, sent, resent, acknowledged, undelivered };
}

type Told = Partial<Summary>;

function line({ reasons: _, ...counts }: Told): string {
  return Object.entries(counts)
    .map(([name, count]) => `${count.toLocaleString("en")} ${name}`)
    .join(", ");
}

function tell(summary: Told, found: Verification | undefined): void {
  print(line(summary));
  for (const reason of summary.reasons ?? []) say(`rejected: ${reason}`);
  if ((summary.waiting ?? 0) > 0) say("What waits is taken in once its device has a tank and, where it needs one, a profile.");
  if (found === undefined) return;
  const { tanks, readings, missing, different, strange, faults } = found;
  print(`verified: ${readings} readings of ${tanks} tanks, ${missing} missing, ${different} different, ${strange} strange`);
  for (const fault of faults) say(fault);
}
