// The kinds of fields that the objects of the interface are made of.

import { ID_MAX_LENGTH } from "./id.ts";
import { nullableNumber, nullableText, text } from "./schema.ts";

const TEXT_MAX_LENGTH = 512;
/** No control characters. */
const CLEAN = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$";
const INSTANT_EXAMPLE = "2026-11-14T09:30:00.000Z";

export const idField = (description: string, example: string) =>
  text({ minLength: 1, maxLength: ID_MAX_LENGTH, pattern: CLEAN, description, examples: [example] });

export const textField = (description: string, example: string) =>
  text({ minLength: 1, maxLength: TEXT_MAX_LENGTH, pattern: CLEAN, description, examples: [example] });

export const emailField = (description: string, example: string) =>
  text({ maxLength: TEXT_MAX_LENGTH, pattern: "^[^\\s@]+@[^\\s@]+$", description, examples: [example] });

export const nullableTextField = (description: string, example: string) =>
  nullableText({ maxLength: TEXT_MAX_LENGTH, pattern: CLEAN, description, examples: [example] });

export const nullableNumberField = (description: string, minimum: number, maximum: number, example: number) =>
  nullableNumber({ minimum, maximum, description, examples: [example] });

export const instantField = (description: string) => text({ format: "date-time", description, examples: [INSTANT_EXAMPLE] });

export const nullableInstantField = (description: string) =>
  nullableText({ format: "date-time", description, examples: [INSTANT_EXAMPLE] });
