// A customer: an account holder who owns tanks.

import Type, { type Static } from "typebox";
import { EmailText, IdText, InstantText, NullableInstantText, NullableText, Text } from "./fields.ts";
import { formatInstant, formatInstantOrNull, type Instant } from "./instant.ts";

export type Customer = {
  readonly id: string;
  readonly created_at: Instant;
  readonly email: string;
  readonly last_seen_at: Instant | null;
  readonly name: string;
  readonly phone: string | null;
  readonly updated_at: Instant;
  readonly verified_at: Instant | null;
};

/** A customer as the store knows it: with the number of tanks it keeps beside it. */
export type CountedCustomer = Customer & { readonly tank_count: number };

export const CustomerObject = Type.Object(
  {
    id: IdText("Unique identifier of the customer", "cus_01kxa8w5s0v3m4q9t7r2n6c8d1"),
    object: Type.Literal("customer", { description: "Always `customer`" }),
    created_at: InstantText("When the customer was created"),
    email: EmailText("The customer's email address", "office@brenner-gas.example"),
    is_verified: Type.Boolean({ description: "Whether the customer's email has been verified", examples: [true] }),
    last_seen_at: NullableInstantText("The customer's last activity"),
    name: Text("Full name or business name", "Brenner Gas GmbH"),
    phone: NullableText("Phone number", "+49 30 5550 0142"),
    tank_count: Type.Integer({ minimum: 0, description: "Number of tanks assigned to the customer", examples: [3] }),
    updated_at: InstantText("When the customer last changed any field"),
    verified_at: NullableInstantText("When the customer verified their email"),
  },
  { additionalProperties: false, description: "An account holder who owns tanks" },
);

export function customerObject(customer: CountedCustomer): Static<typeof CustomerObject> {
  return {
    id: customer.id,
    object: "customer",
    created_at: formatInstant(customer.created_at),
    email: customer.email,
    is_verified: customer.verified_at !== null,
    last_seen_at: formatInstantOrNull(customer.last_seen_at),
    name: customer.name,
    phone: customer.phone,
    tank_count: customer.tank_count,
    updated_at: formatInstant(customer.updated_at),
    verified_at: formatInstantOrNull(customer.verified_at),
  };
}
