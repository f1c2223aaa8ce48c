// tank-monitor simulate

import { readEnvFile } from "../config.ts";
import { UserError } from "../domain/errors.ts";
import { DAY } from "../domain/instant.ts";
import { quoted, suggestion } from "../domain/text.ts";
import { type Fleet, type SeededFleet, seededFleet } from "../simulate/fleet.ts";
import { type HttpClient, httpClient, httpTransport } from "../simulate/http.ts";
import { mqttTransport } from "../simulate/mqtt.ts";
import { canManage, canRead, registerFleet } from "../simulate/register.ts";
import { READING_LOG_LIMIT, type Summary, Tally, type VerificationResult, verify } from "../simulate/results.ts";
import { MAKERS, type Maker } from "../simulate/sensors.ts";
import { type MessageTransport, simulate as run } from "../simulate/simulation.ts";
import { type CliCall, type CliCommand, numberFlag, parseDurationFlag, text, valueFlags, wholeNumberFlag } from "./command.ts";
import { ProgressBar, print, printMessage } from "./output.ts";
import { requireReachable } from "./remote.ts";

const PROGRESS_INTERVAL_MS = 1000;
/** How long readings in transit at the end may take. */
const SEND_TIMEOUT_MS = 30_000;
const SIGNALS = ["SIGINT", "SIGTERM"] as const;

export const simulate: CliCommand = {
  name: "simulate",
  summary: "send readings of simulated devices to a service",
  usage: "--url URL | --mqtt URL [--tanks N] [--rate R] [--seed S] [--duration DURATION] [options]",
  help: `Simulate devices of several makers that report over HTTP or MQTT. Some lose their connection and send a backlog later, some
messages arrive twice, and what is not acknowledged is sent again. Ctrl-C, or the end of --duration, prints a summary.

  --url URL            the service, such as http://127.0.0.1:8080
  --mqtt URL           a broker instead, such as mqtt://127.0.0.1:1883; with --url too, tanks are registered over HTTP
  --key KEY            ingest key to send with (or TANK_MONITOR_KEY)
  --manage-key KEY     manage key that registers customers, tanks and devices (or TANK_MONITOR_MANAGE_KEY); without one,
                       readings of devices without a tank stay pending
  --tanks N            number of tanks (10)
  --rate R             readings per second, in total (2)
  --seed S             the same seed gives the same fleet and events (1)
  --duration DURATION  such as 30s or 2h; until Ctrl-C by default
  --makers LIST        one or more of ${MAKERS.join(", ")}, separated by commas
  --verify             at the end, compare the service's telemetry with every acknowledged reading; needs --url, and
                       --read-key KEY (or TANK_MONITOR_READ_KEY) if there is no manage key
  --json               print the summary as JSON

Exit 1 if a reading was rejected or not delivered, or the verification failed.`,
  maxArguments: 0,
  flags: {
    ...valueFlags("url", "mqtt", "key", "manage-key", "read-key", "tanks", "rate", "seed", "duration", "makers"),
    verify: { type: "boolean" },
    json: { type: "boolean" },
  },
  async run(call) {
    const options = readOptions(call);
    const error = errorIn(options);
    if (error !== undefined) throw new UserError(`simulate: ${error}`, 2);
    const fleet = seededFleet(options.seed, options.tanks, options.makers);
    const manager = await managerFor(options);
    const reader = options.verify ? await readerFor(options, manager) : undefined;
    if (manager !== undefined) await register(fleet, manager);
    else {
      const missing = options.url === undefined ? "--url" : "manage key";
      printMessage(`No ${missing}: tanks are not registered, and readings of devices without a tank stay pending.`);
    }
    const tally = new Tally(options.verify);
    await runSimulation(options, fleet, tally);
    const summary = tally.summary();
    const verification = reader === undefined ? undefined : await verifyReadings(tally, fleet, reader);
    const known = options.mqtt === undefined ? summary : knownOverMqtt(summary);
    if (call.flags["json"] === true) print(JSON.stringify({ ...known, ...(verification && { verification }) }));
    else printSummary(known, verification);
    return isSuccess(summary, verification) ? 0 : 1;
  },
};

/** A client with a manage key: --manage-key, or --key if it can manage. */
async function managerFor({ url, key, manageKey }: SimulationOptions): Promise<HttpClient | undefined> {
  if (url === undefined) return undefined;
  // A mistyped address is reported, and not retried forever.
  await requireReachable(url);
  const secret = manageKey ?? key;
  if (secret === undefined) return undefined;
  const client = httpClient(url, secret);
  if (await canManage(client)) return client;
  if (manageKey !== undefined)
    throw new UserError("the key of --manage-key, or TANK_MONITOR_MANAGE_KEY, does not have the role manage");
  return undefined;
}

async function readerFor({ url = "", readKey }: SimulationOptions, manager: HttpClient | undefined): Promise<HttpClient> {
  const client = readKey === undefined ? manager : httpClient(url, readKey);
  if (client === undefined || !(await canRead(client))) throw new UserError("--verify needs a key that can read: --read-key");
  return client;
}

async function register(fleet: SeededFleet, manager: HttpClient): Promise<void> {
  using progress = new ProgressBar("registering tanks");
  await registerFleet(fleet, manager, (done) => progress.show(done, fleet.size));
}

function transportFor({ url = "", mqtt, key, manageKey }: SimulationOptions): MessageTransport | Promise<MessageTransport> {
  return mqtt === undefined ? httpTransport(httpClient(url, key ?? manageKey ?? "")) : mqttTransport(mqtt, key ?? manageKey);
}

async function runSimulation(options: SimulationOptions, fleet: Fleet, tally: Tally): Promise<void> {
  const { seed, rate, tanks, durationMs, mqtt } = options;
  await using cleanup = new AsyncDisposableStack();
  const transport = await transportFor(options);
  cleanup.defer(() => transport.close());
  using ending = endAfter(durationMs);
  const counts = (): string => countsText(mqtt === undefined ? tally.summary() : knownOverMqtt(tally.summary()));
  using progress = new ProgressBar("so far:");
  using _timer = setInterval(() => {
    progress.show(0, 0, counts());
    if (tally.isLogFull) ending.stop();
  }, PROGRESS_INTERVAL_MS);
  printMessage(
    `${tanks} devices send ${rate} readings per second over ${mqtt === undefined ? "HTTP" : "MQTT"}. Press Ctrl-C to stop.`,
  );
  try {
    await run({ fleet, seed, transport, rate, clock: Date.now, observer: tally, ...ending.signals });
  } catch (error) {
    progress.end();
    printMessage(counts());
    throw error;
  }
}

/** The first signal, or the end of the duration, stops sending; a second signal, or the timeout, aborts deliveries. */
function endAfter(durationMs: number | undefined) {
  const [stopping, aborting] = [new AbortController(), new AbortController()];
  const timers: NodeJS.Timeout[] = [];
  const stop = (): void => {
    if (stopping.signal.aborted) return;
    stopping.abort();
    timers.push(setTimeout(() => aborting.abort(), SEND_TIMEOUT_MS));
  };
  const onSignal = (): void => (stopping.signal.aborted ? aborting.abort() : stop());
  if (durationMs !== undefined) timers.push(setTimeout(stop, durationMs));
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return {
    signals: { stop: stopping.signal, abort: aborting.signal },
    stop,
    [Symbol.dispose](): void {
      for (const timer of timers) clearTimeout(timer);
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}

async function verifyReadings(tally: Tally, fleet: Fleet, reader: HttpClient): Promise<VerificationResult> {
  using progress = new ProgressBar("verifying");
  return await verify(tally, fleet, reader, (tanks) => progress.show(tanks, fleet.size));
}

function isSuccess({ rejected, undelivered }: Summary, verification: VerificationResult | undefined): boolean {
  const { missing, different, unexpected } = verification ?? { missing: 0, different: 0, unexpected: 0 };
  return rejected + undelivered + missing + different + unexpected === 0;
}

/** A broker acknowledges messages, and reports nothing else. */
function knownOverMqtt({ measured, sent, resent, acknowledged, undelivered }: Summary) {
  return { measured, sent, resent, acknowledged, undelivered };
}

function countsText({ reasons: _, ...counts }: Partial<Summary>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${count.toLocaleString("en")} ${name}`)
    .join(", ");
}

function printSummary(summary: Partial<Summary>, verification: VerificationResult | undefined): void {
  print(countsText(summary));
  for (const reason of summary.reasons ?? []) printMessage(`rejected: ${reason}`);
  if ((summary.pending ?? 0) > 0)
    printMessage("Pending readings are stored once their device has a tank and, if it needs one, a profile.");
  if (verification === undefined) return;
  const { tanks, readings, missing, different, unexpected, differences } = verification;
  print(`verified: ${readings} readings of ${tanks} tanks, ${missing} missing, ${different} different, ${unexpected} unexpected`);
  for (const difference of differences) printMessage(difference);
}

const MAX_TANKS = 1_000_000;
const MAX_RATE = 1_000_000;
/** A tank has one reading per millisecond at most. */
const MAX_RATE_PER_TANK = 500;
/** Timers take at most 24.8 days. */
const MAX_DURATION_MS = 24 * DAY;

type SimulationOptions = ReturnType<typeof readOptions>;

function readOptions(call: CliCall) {
  const duration = text(call, "duration");
  return {
    /** Without a slash at its end. */
    url: urlFlag(call, "url", /^https?:$/, "http://127.0.0.1:8080")?.replace(/\/+$/, ""),
    mqtt: urlFlag(call, "mqtt", /^(mqtts?|wss?):$/, "mqtt://127.0.0.1:1883"),
    tanks: wholeNumberFlag(call, "tanks", 10, 1, MAX_TANKS),
    rate: numberFlag(call, "rate", 2, 0.001, MAX_RATE),
    seed: text(call, "seed") ?? "1",
    makers: makersFlag(call),
    durationMs: duration === undefined ? undefined : parseDurationFlag(duration, "duration"),
    key: keyFlag(call, "key"),
    manageKey: keyFlag(call, "manage-key"),
    readKey: keyFlag(call, "read-key"),
    verify: call.flags["verify"] === true,
  };
}

function errorIn({ url, mqtt, tanks, rate, durationMs = 0, key, manageKey, readKey, verify }: SimulationOptions) {
  if (url === undefined && mqtt === undefined) return "--url or --mqtt is required: where to send readings";
  if (rate > tanks * MAX_RATE_PER_TANK) {
    return `--rate must be at most ${MAX_RATE_PER_TANK} for each tank: with --tanks ${tanks}, ${tanks * MAX_RATE_PER_TANK}`;
  }
  if (mqtt === undefined && key === undefined && manageKey === undefined) {
    return "a key is missing: --key, or TANK_MONITOR_KEY";
  }
  if (url === undefined && verify) return "--verify needs --url, also if readings go to a broker";
  if (durationMs > MAX_DURATION_MS) return `--duration must be at most ${MAX_DURATION_MS / DAY}d; omit it to run until Ctrl-C`;
  if (verify && readKey === undefined && manageKey === undefined && key === undefined)
    return "--verify needs a key that can read";
  if (verify && rate * (durationMs / 1000) > READING_LOG_LIMIT) {
    return `--verify keeps at most ${READING_LOG_LIMIT} readings: lower --rate or --duration`;
  }
  return undefined;
}

/** URLs may contain a password, so a wrong one is not repeated. */
function urlFlag(call: CliCall, flag: string, protocol: RegExp, example: string): string | undefined {
  const given = text(call, flag);
  if (given === undefined || (URL.canParse(given) && protocol.test(new URL(given).protocol))) return given;
  throw new UserError(`--${flag} must be a URL such as ${example}`, 2);
}

function makersFlag(call: CliCall): readonly Maker[] {
  const given = text(call, "makers");
  if (given === undefined) return MAKERS;
  return given.split(",").map((word) => {
    const maker = MAKERS.find((known) => known === word.trim());
    if (maker !== undefined) return maker;
    throw new UserError(
      `--makers: no such maker: ${quoted(word)}.${suggestion(word, MAKERS)} Choose from ${MAKERS.join(", ")}`,
      2,
    );
  });
}

/** `--manage-key`, or TANK_MONITOR_MANAGE_KEY, which other users of the machine cannot see. */
function keyFlag(call: CliCall, flag: string): string | undefined {
  const name = `TANK_MONITOR_${flag.toUpperCase().replace("-", "_")}`;
  const given = text(call, flag) ?? (process.env[name] || readEnvFile()[name]);
  return given === "" ? undefined : given;
}
