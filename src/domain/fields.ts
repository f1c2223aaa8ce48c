// The kinds of fields that the objects of the interface are made of, as schemas: one definition gives the check of an
// import line, the shape of an answer and the OpenAPI document.

import Type from "typebox";
import { ID_MAX_LENGTH } from "./id.ts";

const TEXT_MAX_LENGTH = 512;
/** No control characters. */
const CLEAN = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$";
const INSTANT_EXAMPLE = "2026-11-14T09:30:00.000Z";

export const IdText = (description: string, example: string) =>
  Type.String({ minLength: 1, maxLength: ID_MAX_LENGTH, pattern: CLEAN, description, examples: [example] });

export const Text = (description: string, example: string) =>
  Type.String({ minLength: 1, maxLength: TEXT_MAX_LENGTH, pattern: CLEAN, description, examples: [example] });

export const EmailText = (description: string, example: string) =>
  Type.String({ maxLength: TEXT_MAX_LENGTH, pattern: "^[^\\s@]+@[^\\s@]+$", description, examples: [example] });

export const NullableText = (description: string, example: string) =>
  Type.Unsafe<string | null>({
    type: ["string", "null"],
    maxLength: TEXT_MAX_LENGTH,
    pattern: CLEAN,
    description,
    examples: [example],
  });

export const NullableNumber = (description: string, minimum: number, maximum: number, example: number) =>
  Type.Unsafe<number | null>({ type: ["number", "null"], minimum, maximum, description, examples: [example] });

export const InstantText = (description: string) =>
  Type.String({ format: "date-time", description, examples: [INSTANT_EXAMPLE] });

export const NullableInstantText = (description: string) =>
  Type.Unsafe<string | null>({ type: ["string", "null"], format: "date-time", description, examples: [INSTANT_EXAMPLE] });
