export { type ClientOptions, createClient } from "./client.ts";
export { ApiError, type ErrorCode, type FieldError } from "./error.ts";
export type * from "./generated.ts";
export type { List } from "./list.ts";
export type { RequestOptions } from "./request.ts";
