// Messages as the network servers' own documentation shows them, and as they send them for real sensors.

/** From ChirpStack's documentation (4.0, which leaves out what is zero): no codec is set. */
export const CHIRPSTACK_DOCUMENTED = `{"deduplicationId":"3ac7e3c4-4401-4b8d-9386-a5c902f9202d","time":"2022-07-18T09:34:15.775023242+00:00",
"deviceInfo":{"tenantId":"52f14cd4-c6f1-4fbd-8f87-4025e1d49242","tenantName":"ChirpStack","applicationId":"17c82e96-be03-4f38-aef3-f83d48582d97",
"applicationName":"Test application","deviceProfileId":"14855bf7-d10d-4aee-b618-ebfcb64dc7ad","deviceProfileName":"Test device-profile",
"deviceName":"Test device","devEui":"0101010101010101","tags":{"key":"value"}},"devAddr":"00189440","dr":1,"fPort":1,"data":"qg==",
"rxInfo":[{"gatewayId":"0016c001f153a14c","uplinkId":4217106255,"rssi":-36,"snr":10.5,"context":"E3OWOQ==","metadata":{"region_name":"eu868","region_common_name":"EU868"}}],
"txInfo":{"frequency":867100000,"modulation":{"lora":{"bandwidth":125000,"spreadingFactor":11,"codeRate":"CR_4_5"}}}}`;

/** The frame of a Milesight EM500-UDL (`017564 03821E00`) with the object that Milesight's codec makes of it. */
export const CHIRPSTACK_EM500_UDL = `{"deduplicationId":"1d5e7b3c-2a44-4c0c-8f27-30d3d0a7f6a1","time":"2026-11-14T06:00:00.123456789+00:00",
"deviceInfo":{"tenantId":"52f14cd4-c6f1-4fbd-8f87-4025e1d49242","tenantName":"ChirpStack","applicationId":"17c82e96-be03-4f38-aef3-f83d48582d97",
"applicationName":"Tanks","deviceProfileId":"14855bf7-d10d-4aee-b618-ebfcb64dc7ad","deviceProfileName":"EM500-UDL","deviceName":"hall",
"deviceClassEnabled":"CLASS_A","devEui":"24e124713b493604","tags":{}},"devAddr":"00189440","adr":true,"dr":5,"fCnt":4,"fPort":85,"confirmed":false,
"data":"AXVkA4IeAA==","object":{"battery":100.0,"distance":30.0},"rxInfo":[],"txInfo":{"frequency":868100000}}`;

export const CHIRPSTACK_JOIN = `{"deduplicationId":"c9dbe358-2578-4fb7-b295-66b44edc45a6","time":"2022-07-18T09:33:28.823500726+00:00",
"deviceInfo":{"tenantId":"52f14cd4-c6f1-4fbd-8f87-4025e1d49242","tenantName":"ChirpStack","applicationId":"17c82e96-be03-4f38-aef3-f83d48582d97",
"applicationName":"Test application","deviceProfileId":"14855bf7-d10d-4aee-b618-ebfcb64dc7ad","deviceProfileName":"Test device-profile",
"deviceName":"Test device","devEui":"0101010101010101","tags":{"key":"value"}},"devAddr":"00189440"}`;

/** From The Things Stack's documentation. It has no `f_port`. */
export const TTS_DOCUMENTED = `{"end_device_ids":{"device_id":"dev1","application_ids":{"application_id":"app1"},"dev_eui":"0004A30B001C0530",
"join_eui":"800000000000000C","dev_addr":"00BCB929"},"correlation_ids":["as:up:01E0WZGT6Y7657CPFPE5WEYDSQ"],"received_at":"2020-02-12T15:15:46.014773143Z",
"uplink_message":{"session_key_id":"AXA50tHUGUucuzS/bCGMNw==","f_cnt":1,"frm_payload":"gkHe","decoded_payload":{"temperature":1.0,"luminosity":0.64},
"rx_metadata":[{"gateway_ids":{"gateway_id":"gtw1","eui":"9C5C8E00001A05C4"},"time":"2020-02-12T15:15:45.787Z","timestamp":2463457000,"rssi":-35,
"channel_rssi":-35,"snr":5,"uplink_token":"ChIKEAoEZ3R3MRIInFyOAAAaBcQQ6L3Vlgk=","channel_index":2}],
"settings":{"data_rate":{"lora":{"bandwidth":125000,"spreading_factor":7}},"data_rate_index":5,"coding_rate":"4/6","frequency":"868300000",
"timestamp":2463457000,"time":"2020-02-12T15:15:45.787Z"},"consumed_airtime":"0.056576s",
"locations":{"user":{"latitude":37.97155556731436,"longitude":23.72678801175413,"altitude":10,"source":"SOURCE_REGISTRY"}},
"received_at":"2020-02-12T15:15:45.789585559Z"}}`;

export const TTS_JOIN = `{"end_device_ids":{"device_id":"dev1","application_ids":{"application_id":"app1"},"dev_eui":"0004A30B001C0530",
"join_eui":"800000000000000C","dev_addr":"00BCB929"},"correlation_ids":["as:up:01E0WZGT6Y7657CPFPE5WEYDSQ"],"received_at":"2020-02-12T15:15:46.014773143Z",
"join_accept":{"session_key_id":"AXBSH1Pk6Z0G166UOQbFdQ==","received_at":"2020-02-12T15:15:45.789585559Z"}}`;

type Json = Record<string, unknown>;

/** The same, parsed, with some of its keys replaced (undefined takes one away). */
export function altered(text: string, change: Json = {}): Json {
  return withoutUndefined({ ...(JSON.parse(text) as Json), ...change });
}

/** The documented uplink, as a device on an application port sends it. */
export function ttsUplink(uplink: Json = {}, change: Json = {}): Json {
  const whole = altered(TTS_DOCUMENTED, change);
  const message = { ...(whole["uplink_message"] as Json), f_port: 85, ...uplink };
  return { ...whole, uplink_message: withoutUndefined(message) };
}

const withoutUndefined = (value: Json): Json =>
  Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined));
