// /manage/v1/channels

import { ChannelObject, type StoredChannel } from "../../../domain/alerts/channel.ts";
import { LATE_MS } from "../../../domain/alerts/notification-queue.ts";
import { errorInWebhookUrl } from "../../../domain/alerts/webhook-url.ts";
import {
  EmailChannelChange,
  NewEmailChannel,
  NewWebhookChannel,
  WebhookChannelChange,
} from "../../../domain/commands/channels.ts";
import { Recovery } from "../../../domain/commands/notifications.ts";
import { formatInstant, formatInstantOrNull } from "../../../domain/instant.ts";
import { channelResource, type Resource } from "../../../domain/resource.ts";
import { anyOf, idField, instantField, integer, literal, nullable, object, ref, text } from "../../../domain/schema.ts";
import { bySettings, type ManagementService, mailProblem } from "../../management.ts";
import { listSchema, PAGE_PARAMETERS, pageOfAllJson } from "../../parameters.ts";
import { jsonBody, patchBody, type Route } from "../../route.ts";
import { deletedSchema, requireFound } from "../found.ts";
import {
  createdResponse,
  idempotencyKeyOf,
  MERGE_PATCH,
  manageRoute,
  objectResponse,
  overlapParameter,
  resourceResponse,
} from "./manage-route.ts";
import { createdNotification } from "./notifications.ts";

const PATH = "/manage/v1/channels";
const EXAMPLE_ID = "chn_01kxa8w5s0d2f4g6h8j0k2m4n6";

const Shown = object(
  {
    ...ChannelObject.properties,
    problem: nullable(text({ description: "Why nothing arrives, if that is known", examples: [null] })),
  },
  { description: "Where the operator is notified" },
);
const secret = nullable(
  text({
    description: "What webhooks are signed with, shown only once; null for e-mail, and if the request is replayed",
    examples: ["whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDRQqVKqVsBGM="],
  }),
);

export const schemas = {
  Channel: Shown,
  ChannelDetails: object(
    {
      ...Shown.properties,
      failing_since: nullable({ ...instantField("Since when every delivery has failed"), examples: [null] }),
      pending: integer({ minimum: 0, description: "Number of notifications still to be sent", examples: [0] }),
      held: integer({ minimum: 0, description: "Number delayed, held or collected for a mail, up to 10,000", examples: [0] }),
      last_delivered_at: nullable(instantField("When one of its newest 100 notifications was delivered last")),
      last_error: nullable(text({ description: "The last error among its newest 100 notifications", examples: [null] })),
    },
    { description: "A channel, and the state of its deliveries" },
  ),
  CreatedChannel: object({ ...Shown.properties, secret }, { description: "A channel with its secret" }),
  DeletedChannel: deletedSchema("channel", ChannelObject.properties.id),
  ChannelList: listSchema(ref("Channel"), "One page of channels"),
  ChannelRecovery: object(
    {
      object: literal("channel_recovery", { description: "Always `channel_recovery`" }),
      channel_id: idField("The channel", EXAMPLE_ID),
      recovered: integer({ minimum: 0, description: "Number of notifications that are sent again", examples: [12] }),
    },
    { description: "What is sent again" },
  ),
  NewWebhookChannel,
  NewEmailChannel,
  WebhookChannelChange,
  EmailChannelChange,
  Recovery,
};

export const routes: readonly Route[] = [
  manageRoute("GET", PATH, {
    sessionRole: "admin",
    operation: "listChannels",
    summary: "List channels",
    description: "All channels, newest first, without their secrets.",
    parameters: PAGE_PARAMETERS,
    response: { schema: ref("ChannelList"), description: "One page of channels" },
    async handle({ services: { management }, parameters }) {
      return pageOfAllJson(await management.reads.channelList(), parameters, (channel) =>
        JSON.stringify(withProblem(management, channelResource(channel), channel).object),
      );
    },
  }),
  manageRoute("POST", PATH, {
    sessionRole: "admin",
    operation: "createChannel",
    summary: "Create a channel",
    description: "Creates a webhook or an e-mail channel. The secret of a webhook is in this response and nowhere else.",
    headers: ["Idempotency-Key"],
    body: jsonBody(anyOf(ref("NewWebhookChannel"), ref("NewEmailChannel")), "The channel", {
      type: "webhook",
      url: "https://hooks.example.com/tanks",
    }),
    response: { ...objectResponse(ref("CreatedChannel"), "The new channel with its secret"), status: 201 },
    errors: ["state_conflict"],
    async handle(request) {
      const { services, body, key } = request;
      const { management } = services;
      const { resource, secret, replayed } = await management.createChannel(body, key.id, idempotencyKeyOf(PATH, request));
      return createdResponse(PATH, withSecret(withProblem(management, resource), secret), replayed);
    },
  }),
  manageRoute("GET", `${PATH}/:id`, {
    sessionRole: "admin",
    operation: "inspectChannel",
    isLongRead: true,
    summary: "Inspect a channel",
    description: "One channel, without its secret, and the state of its deliveries.",
    response: objectResponse(ref("ChannelDetails"), "The channel"),
    errors: ["channel_unknown"],
    async handle({ services: { management }, id }) {
      const channel = requireFound("channel", await storedChannel(management, id));
      const { last_delivered_at, ...status } = await management.reads.channelStatus(channel);
      const { object, etag } = withProblem(management, channelResource(channel), channel);
      const failing_since = formatInstantOrNull(channel.failing_since);
      const details = { failing_since, ...status, last_delivered_at: formatInstantOrNull(last_delivered_at) };
      return resourceResponse({ object: { ...object, ...details }, etag });
    },
  }),
  manageRoute("PATCH", `${PATH}/:id`, {
    sessionRole: "admin",
    operation: "changeChannel",
    summary: "Change a channel",
    description: `${MERGE_PATCH} \`{"state":"active"}\` enables a disabled channel again. The type cannot be changed.`,
    headers: ["If-Match"],
    body: patchBody(anyOf(ref("WebhookChannelChange"), ref("EmailChannelChange")), { delay: "4h" }),
    response: objectResponse(ref("Channel"), "The changed channel"),
    errors: ["channel_unknown"],
    async handle({ services: { management }, id, body, key, headers: { ifMatch } }) {
      const { webhookAllow } = management.settings;
      const command = { type: "change_channel", id, fields: body, ifMatch, webhookAllow } as const;
      const { resource } = await management.execute(command, key.id);
      return resourceResponse(withProblem(management, resource, await storedChannel(management, id)));
    },
  }),
  manageRoute("DELETE", `${PATH}/:id`, {
    sessionRole: "admin",
    operation: "deleteChannel",
    summary: "Delete a channel",
    description: "Deletes a channel permanently. Its pending notifications are no longer sent.",
    headers: ["If-Match"],
    response: { schema: ref("DeletedChannel"), description: "The deleted channel" },
    errors: ["channel_unknown"],
    async handle({ services, id, key, headers: { ifMatch } }) {
      return (await services.management.execute({ type: "delete_channel", id, ifMatch }, key.id)).resource.object;
    },
  }),
  manageRoute("POST", `${PATH}/:id/test`, {
    sessionRole: "admin",
    operation: "testChannel",
    summary: "Test a channel",
    description:
      "Creates a notification `channel.test`, which is sent as all others are. Retrieve the notification to see the result.",
    headers: ["Idempotency-Key"],
    response: { schema: ref("Notification"), description: "The notification", status: 201 },
    errors: ["channel_unknown", "state_conflict"],
    async handle(request) {
      const { services, id, key } = request;
      const command = { type: "test_channel", id, newId: services.management.newId("msg") } as const;
      const idempotencyKey = idempotencyKeyOf(`${PATH}/${id}/test`, request);
      return createdNotification(await services.management.execute(command, key.id, idempotencyKey));
    },
  }),
  manageRoute("POST", `${PATH}/:id/rotate`, {
    sessionRole: "admin",
    operation: "rotateChannel",
    summary: "Rotate the secret of a webhook",
    description: "Creates a new secret. Webhooks are signed with the old one, too, for the overlap.",
    parameters: { overlap: overlapParameter("How long the old secret signs, too, such as 24h or 30m") },
    response: objectResponse(ref("CreatedChannel"), "The channel with its new secret"),
    errors: ["channel_unknown", "state_conflict"],
    async handle({ services: { management }, id, key, parameters: { overlap } }) {
      const { resource, secret } = await management.rotateChannel(id, overlap, key.id);
      return resourceResponse(withSecret(withProblem(management, resource, await storedChannel(management, id)), secret));
    },
  }),
  manageRoute("POST", `${PATH}/:id/recover`, {
    sessionRole: "admin",
    operation: "recoverChannel",
    summary: "Send failed and expired notifications again",
    description: "Sends all notifications of the channel again that have failed or expired since a time, with the same ids.",
    body: jsonBody(ref("Recovery"), "Since when", { since: "2026-11-14T09:30:00.000Z" }),
    response: { schema: ref("ChannelRecovery"), description: "How many are sent again" },
    errors: ["channel_unknown", "state_conflict"],
    async handle({ services, id, key, body }) {
      const recovered = await services.management.recoverChannel(id, body, key.id);
      return { object: "channel_recovery", channel_id: id, recovered };
    },
  }),
];

const storedChannel = async ({ reads }: ManagementService, id: string): Promise<StoredChannel | undefined> =>
  (await reads.channelList()).find((known) => known.id === id);

const withSecret = ({ object: shown, etag }: Resource, secret: string | null): Resource => ({
  object: { ...shown, secret },
  etag,
});

type SendingTimes = Pick<StoredChannel, "failing_since" | "pending_since">;

function withProblem(management: ManagementService, { object: shown, etag }: Resource, times?: SendingTimes): Resource {
  return { object: { ...shown, problem: channelProblem(shown, management, times) }, etag };
}

/** Why nothing arrives, in plain words. Why a channel is disabled is a field of its own. */
function channelProblem(
  { type, url }: Resource["object"],
  { settings, clock }: ManagementService,
  { failing_since, pending_since }: SendingTimes = { failing_since: null, pending_since: null },
): string | null {
  const { missingForMail, webhookAllow } = settings;
  if (type === "email" && missingForMail.length > 0) return mailProblem(settings);
  const urlError = typeof url === "string" ? errorInWebhookUrl(url, webhookAllow) : undefined;
  if (urlError !== undefined) return bySettings(settings, `Nothing is sent to this URL: it ${urlError}.`);
  if (failing_since !== null) return `Every delivery has failed since ${formatInstant(failing_since)}.`;
  if (pending_since === null || clock() - pending_since < LATE_MS) return null;
  return `${type === "email" ? "Mail to some recipients is" : "Notifications are"} late: the oldest has been pending since ${formatInstant(pending_since)}.`;
}
