export { incomingBatch as arrivalsOf, type SentReading as Sent } from "./readings.ts";
