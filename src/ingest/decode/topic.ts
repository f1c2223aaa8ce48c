// Topics: who speaks on one, and of which device.

export type Source =
  | { readonly decoder: "own" | "chirpstack" | "tts"; readonly device: string }
  /** A network server telling of something that is not a measurement. */
  | { readonly decoder: "none" };

/** To subscribe to; each is one of the sources below. */
export const FILTERS = ["tanks/+/readings", "application/+/device/+/event/up", "v3/+/devices/+/up"] as const;

export function sourceOf(topic: string): Source | undefined {
  const levels = topic.split("/");
  const [first, second = "", third, fourth = "", fifth, sixth] = levels;
  if (first === "tanks" && third === "readings" && levels.length === 3) return { decoder: "own", device: second };
  if (first === "application" && third === "device") {
    return fifth === "event" && sixth === "up" && levels.length === 6 ? { decoder: "chirpstack", device: fourth } : NONE;
  }
  if (first === "v3" && third === "devices") {
    return fifth === "up" && levels.length === 5 ? { decoder: "tts", device: fourth } : NONE;
  }
  return undefined;
}

const NONE: Source = { decoder: "none" };
