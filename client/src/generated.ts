// Generated from openapi.json by generate.ts. Do not edit: "npm run openapi" writes it again.

import type { List } from "./list.ts";
import type { Operation, RequestOptions } from "./request.ts";

/** An account holder who owns tanks */
export type Customer = {
  /** Unique identifier of the customer */
  readonly id: string;
  /** Always `customer` */
  readonly object: "customer";
  /** When the customer was created */
  readonly created_at: string;
  /** The customer's email address */
  readonly email: string;
  /** Whether the customer's email has been verified */
  readonly is_verified: boolean;
  /** The customer's last activity */
  readonly last_seen_at: string | null;
  /** Full name or business name */
  readonly name: string;
  /** Phone number */
  readonly phone: string | null;
  /** Number of tanks assigned to the customer */
  readonly tank_count: number;
  /** When the customer last changed any field */
  readonly updated_at: string;
  /** When the customer verified their email */
  readonly verified_at: string | null;
};

/** One page of customers */
export type CustomerList = {
  /** Always `list` */
  readonly object: "list";
  /** Up to `size` objects; empty when no more are available */
  readonly data: readonly Customer[];
  /** The page returned */
  readonly page: number;
  /** The page size in effect */
  readonly size: number;
  /** Total number of pages */
  readonly total_pages: number;
  /** Total number of items */
  readonly total_items: number;
};

/** A deleted customer */
export type DeletedCustomer = {
  /** Identifier of the deleted customer */
  readonly id: string;
  readonly object: "customer";
  readonly deleted: true;
};

/** A container with a capacity, an alert threshold, a location and a device */
export type Tank = {
  /** Unique identifier of the tank */
  readonly id: string;
  /** Always `tank` */
  readonly object: "tank";
  /** Identifier of the device assigned to the tank */
  readonly assigned_device_id: string;
  /** Total capacity of the tank */
  readonly capacity: number;
  /** Unit of the capacity */
  readonly capacity_unit: "liters" | "gallons";
  /** When the tank was created */
  readonly created_at: string;
  /** Identifier for the customer's own internal use */
  readonly custom_id: string | null;
  /** Location of the tank; every key is always there and may be null */
  readonly location: {
    /** City */
    readonly city: string | null;
    /** Country */
    readonly country: string | null;
    /** District */
    readonly district: string | null;
    /** Latitude in degrees */
    readonly latitude: number | null;
    /** Longitude in degrees */
    readonly longitude: number | null;
    /** Postal code */
    readonly postal_code: string | null;
    /** Region or state */
    readonly region: string | null;
    /** Street */
    readonly street: string | null;
    /** Street number */
    readonly street_number: string | null;
  };
  /** Fill percentage at which a low-fill alert is triggered to notify the customer */
  readonly min_fill_alert_percentage: number;
  /** The tank's name */
  readonly name: string;
  /** Identifier of the owning customer */
  readonly owner_id: string;
  /** When a data field of the tank was last changed */
  readonly updated_at: string;
  /** What the tank is used for */
  readonly use_case: "residential" | "commercial" | "industrial" | null;
};

/** One page of tanks */
export type TankList = {
  /** Always `list` */
  readonly object: "list";
  /** Up to `size` objects; empty when no more are available */
  readonly data: readonly Tank[];
  /** The page returned */
  readonly page: number;
  /** The page size in effect */
  readonly size: number;
  /** Total number of pages */
  readonly total_pages: number;
  /** Total number of items */
  readonly total_items: number;
};

/** A deleted tank */
export type DeletedTank = {
  /** Identifier of the deleted tank */
  readonly id: string;
  readonly object: "tank";
  readonly deleted: true;
};

/** One fill reading of a tank */
export type Telemetry = {
  /** Always `telemetry` */
  readonly object: "telemetry";
  /** When the reading was created */
  readonly created_at: string;
  /** Fill level of the tank as a percentage */
  readonly fill_percentage: number;
};

/** One page of a tank's readings */
export type TelemetryList = {
  /** Always `list` */
  readonly object: "list";
  /** Up to `size` objects; empty when no more are available */
  readonly data: readonly Telemetry[];
  /** The page returned */
  readonly page: number;
  /** The page size in effect */
  readonly size: number;
  /** Total number of pages */
  readonly total_pages: number;
  /** Total number of items */
  readonly total_items: number;
};

/** A tank and how urgently it needs a delivery */
export type FleetTank = {
  /** Always `fleet_tank` */
  readonly object: "fleet_tank";
  /** low: at or below its threshold; unknown: it has no reading */
  readonly state: "low" | "ok" | "unknown";
  /** Percentage points above the threshold; negative below it */
  readonly margin: number | null;
  /** It has a `silent` alert, or has had no reading for its `silent_after` (by default `SILENT_AFTER`) and for three times its usual interval */
  readonly silent: boolean;
  /** Days until the tank falls to its threshold: 0 for a low tank; null if `forecast.state` is not `ok`, and after a sudden rise or fall that the forecast does not count yet */
  readonly days_left: {
    /** With a probability of 10 % */
    readonly p10: number | null;
    /** As likely as not */
    readonly p50: number | null;
    /** With a probability of 90 % */
    readonly p90: number | null;
  } | null;
  /** Age of the latest reading in seconds */
  readonly age_seconds: number | null;
  /** When the next reading is due: after the usual interval of the tank; null where that is not known */
  readonly next_reading_at: string | null;
  /** What is in the tank: its capacity × its fill */
  readonly remaining: {
    /** Volume */
    readonly volume: number;
    /** Unit of the volume, that of the tank's capacity */
    readonly unit: "liters" | "gallons";
  } | null;
  /** What fits into the tank up to its whole capacity; a tank that may not be filled up has less */
  readonly room: {
    /** Volume */
    readonly volume: number;
    /** Unit of the volume, that of the tank's capacity */
    readonly unit: "liters" | "gallons";
  } | null;
  readonly latest: Telemetry | null;
  readonly forecast: Forecast;
  /** The alerts of the tank that are not closed, oldest first */
  readonly alerts: readonly ({
    /** Identifier of the alert */
    readonly id: string;
    /** low: at or below the tank's threshold; runs_low_soon: expected to be low within days; leak: use far above normal; silent: no reading for too long */
    readonly kind: "low" | "runs_low_soon" | "leak" | "silent";
    /** open, then acknowledged, then closed */
    readonly state: "open" | "acknowledged" | "closed";
    /** When the alert was opened */
    readonly opened_at: string;
  })[];
  /** No alert of the tank opens until then; null: not paused */
  readonly alerts_paused_until: string | null;
  /** The owner of the tank */
  readonly customer: {
    /** Id of the owner */
    readonly id: string;
    /** Name */
    readonly name: string;
    /** Phone number */
    readonly phone: string | null;
  };
  readonly tank: Tank;
};

/** One page of the fleet, and how old its order is */
export type FleetList = {
  /** Always `list` */
  readonly object: "list";
  /** Up to `size` objects; empty when no more are available */
  readonly data: readonly FleetTank[];
  /** The page returned */
  readonly page: number;
  /** The page size in effect */
  readonly size: number;
  /** Total number of pages */
  readonly total_pages: number;
  /** Total number of items */
  readonly total_items: number;
  /** The order includes all readings stored before this time; normally less than 60 seconds ago */
  readonly as_of: string;
};

/** Where all tanks are */
export type FleetMap = {
  /** Always `fleet_map` */
  readonly object: "fleet_map";
  /** Where tanks are, in ten-thousandths of a degree, by state. A tank is in the first state that holds */
  readonly positions: {
    /** At or below their threshold: latitude and longitude of each tank, one after the other */
    readonly low: readonly number[];
    /** With a `leak` alert: latitude and longitude of each tank, one after the other */
    readonly leak: readonly number[];
    /** As likely as not low within 7 days: latitude and longitude of each tank, one after the other */
    readonly soon: readonly number[];
    /** With a `silent` alert, or without a reading for too long, as `silent` of the fleet: latitude and longitude of each tank, one after the other */
    readonly silent: readonly number[];
    /** Without any reading: latitude and longitude of each tank, one after the other */
    readonly unknown: readonly number[];
    /** All others: latitude and longitude of each tank, one after the other */
    readonly ok: readonly number[];
  };
  /** Number of tanks without coordinates */
  readonly without_coordinates: number;
  /** Those with the most tanks first */
  readonly towns: readonly {
    /** The `location.city` of its tanks */
    readonly name: string;
    /** Mean latitude of its tanks in ten-thousandths of a degree */
    readonly latitude: number;
    /** Mean longitude of its tanks in ten-thousandths of a degree */
    readonly longitude: number;
    /** Number of tanks */
    readonly tanks: number;
  }[];
};

/** When a tank runs low and when it is empty */
export type Forecast = {
  /** Always `forecast` */
  readonly object: "forecast";
  /** Id of the tank */
  readonly tank_id: string;
  /** insufficient_data: too few readings, or they contradict each other; no_use: none can be seen; stale: the tank has been silent for too long */
  readonly state: "ok" | "insufficient_data" | "stale" | "no_use";
  /** When it was computed; null: it has not been yet */
  readonly computed_at: string | null;
  /** The latest reading that it is based on */
  readonly based_on_until: string | null;
  /** What is used in a day from now on */
  readonly use_per_day: {
    /** Percentage points */
    readonly percentage: number;
    /** Volume */
    readonly volume: number;
    /** Unit of the volume, that of the tank's capacity */
    readonly unit: "liters" | "gallons";
  } | null;
  /** When the tank falls to its threshold. Not known after a sudden fall that is not certain yet */
  readonly runs_low_at: {
    /** With a probability of 10 % by then; null: not within three years, or not known */
    readonly p10: string | null;
    /** As likely before as after; null: not within three years, or not known */
    readonly p50: string | null;
    /** With a probability of 90 % by then; null: not within three years, or not known */
    readonly p90: string | null;
  };
  /** When the tank is empty. Not known after a sudden fall that is not certain yet */
  readonly runs_empty_at: {
    /** With a probability of 10 % by then; null: not within three years, or not known */
    readonly p10: string | null;
    /** As likely before as after; null: not within three years, or not known */
    readonly p50: string | null;
    /** With a probability of 90 % by then; null: not within three years, or not known */
    readonly p90: string | null;
  };
  /** The suggested delivery */
  readonly suggested_delivery: {
    /** The latest time for the delivery */
    readonly by: string;
    /** What will fit into the tank then */
    readonly volume: number;
    /** Unit of the volume, that of the tank's capacity */
    readonly unit: "liters" | "gallons";
  } | null;
};

/** A delivery, found in the readings */
export type Refill = {
  /** Always `refill` */
  readonly object: "refill";
  /** The last reading before it, of those that are the median of four hours */
  readonly started_at: string;
  /** The first of these readings after it */
  readonly ended_at: string;
  /** Fill before it */
  readonly from_percentage: number;
  /** Fill after it */
  readonly to_percentage: number;
  /** What was filled in: the capacity × the rise */
  readonly volume: number;
  /** Unit of the volume, that of the tank's capacity */
  readonly unit: "liters" | "gallons";
};

/** One page of refills */
export type RefillList = {
  /** Always `list` */
  readonly object: "list";
  /** Up to `size` objects; empty when no more are available */
  readonly data: readonly Refill[];
  /** The page returned */
  readonly page: number;
  /** The page size in effect */
  readonly size: number;
  /** Total number of pages */
  readonly total_pages: number;
  /** Total number of items */
  readonly total_items: number;
};

/** Which series to return */
export type SeriesQuery = {
  /** The tanks; those that are unknown or deleted are left out */
  readonly tank_ids: readonly string[];
  /** Readings from this instant (inclusive); 30 days before `to` by default */
  readonly from?: string;
  /** Readings before this instant (exclusive); by default the end of the current quarter of an hour */
  readonly to?: string;
  /** The length of a bucket: 15m, 1h, 6h, 1d, 1w (from Monday), 1M, or auto: the shortest with at most 400 buckets in the range */
  readonly step?: "15m" | "1h" | "6h" | "1d" | "1w" | "1M" | "auto";
  /** The time zone of hours, days, weeks and months */
  readonly timezone?: string;
};

/** The readings of a tank by buckets of time */
export type Series = {
  /** Always `series` */
  readonly object: "series";
  /** The tank */
  readonly tank_id: string;
  /** The beginning of the range */
  readonly from: string;
  /** The end of the range, exclusive */
  readonly to: string;
  /** The length of a bucket */
  readonly step: "15m" | "1h" | "6h" | "1d" | "1w" | "1M";
  /** The time zone of hours, days, weeks and months */
  readonly timezone: string;
  /** Oldest first; those without readings are left out */
  readonly buckets: readonly {
    /** When the bucket begins; the first may begin before `from` */
    readonly start: string;
    /** The lowest fill percentage */
    readonly min: number;
    /** The highest fill percentage */
    readonly max: number;
    /** The mean of the readings, each with the same weight */
    readonly mean: number;
    /** The fill percentage of the newest reading */
    readonly last: number;
    /** The number of readings */
    readonly count: number;
  }[];
};

/** The series of several tanks, in the order of the request */
export type SeriesList = {
  /** Always `list` */
  readonly object: "list";
  /** Up to `size` objects; empty when no more are available */
  readonly data: readonly Series[];
  /** The page returned */
  readonly page: number;
  /** The page size in effect */
  readonly size: number;
  /** Total number of pages */
  readonly total_pages: number;
  /** Total number of items */
  readonly total_items: number;
};

/** A tank that needs attention */
export type Alert = {
  /** Identifier of the alert */
  readonly id: string;
  /** Always `alert` */
  readonly object: "alert";
  /** low: at or below the tank's threshold; runs_low_soon: expected to be low within days; leak: use far above normal; silent: no reading for too long */
  readonly kind: "low" | "runs_low_soon" | "leak" | "silent";
  /** open, then acknowledged, then closed */
  readonly state: "open" | "acknowledged" | "closed";
  /** The tank */
  readonly tank_id: string;
  /** The current owner of the tank */
  readonly owner_id: string;
  /** When the alert was opened */
  readonly opened_at: string;
  /** When it was acknowledged */
  readonly acknowledged_at: string | null;
  /** The id of the key or user that acknowledged it, or `command line` */
  readonly acknowledged_by: string | null;
  /** When it was closed */
  readonly closed_at: string | null;
  /** recovered: the condition has cleared; became_low: the tank is low now; threshold_changed: it has cleared by another threshold; setting_changed: it has cleared by another setting; turned_off: alerts of this kind are off; tank_deleted: the tank was deleted; manual: somebody closed it; replaced: a sudden loss followed, which has an alert of its own */
  readonly close_reason: "recovered" | "became_low" | "threshold_changed" | "setting_changed" | "turned_off" | "tank_deleted" | "manual" | "replaced" | null;
  /** The tank's threshold when the alert was opened */
  readonly threshold: number;
  /** The fill of the tank when the alert was opened */
  readonly fill_percentage: number;
  /** The fill of the tank now, or when the alert was closed */
  readonly latest_fill_percentage: number;
  /** When that was measured */
  readonly latest_reading_at: string;
  /** When the tank was expected to be low, when a runs_low_soon alert was opened; null for other kinds */
  readonly runs_low_at: string | null;
  /** What a leak alert was opened by; null for other kinds */
  readonly leak: {
    /** Since when more is used than normal */
    readonly since: string;
    /** Percentage points a day above normal use; null for a sudden loss */
    readonly percentage_per_day: number | null;
    /** Percentage points of a sudden loss; null for a steady leak */
    readonly percentage_lost: number | null;
  } | null;
  /** Note given when the alert was acknowledged, changed or closed */
  readonly note: string | null;
  /** When the alert was last changed */
  readonly updated_at: string;
};

/** How many alerts are not closed */
export type AlertCounts = {
  /** Always `alert_counts` */
  readonly object: "alert_counts";
  /** Alerts that nobody has acknowledged */
  readonly open: {
    /** Of the kind `low` */
    readonly low: number;
    /** Of the kind `runs_low_soon` */
    readonly runs_low_soon: number;
    /** Of the kind `leak` */
    readonly leak: number;
    /** Of the kind `silent` */
    readonly silent: number;
  };
  /** Alerts that somebody has acknowledged */
  readonly acknowledged: {
    /** Of the kind `low` */
    readonly low: number;
    /** Of the kind `runs_low_soon` */
    readonly runs_low_soon: number;
    /** Of the kind `leak` */
    readonly leak: number;
    /** Of the kind `silent` */
    readonly silent: number;
  };
};

/** One page of alerts */
export type AlertList = {
  /** Always `list` */
  readonly object: "list";
  /** Up to `size` objects; empty when no more are available */
  readonly data: readonly Alert[];
  /** The page returned */
  readonly page: number;
  /** The page size in effect */
  readonly size: number;
  /** Total number of pages */
  readonly total_pages: number;
  /** Total number of items */
  readonly total_items: number;
};

/** Something that happened to an alert, as webhooks and the feed have it */
export type AlertEvent = {
  /** What has happened to the alert */
  readonly type: "alert.opened" | "alert.acknowledged" | "alert.closed";
  /** When it happened */
  readonly timestamp: string;
  /** Rises with every event of the service */
  readonly sequence: number;
  /** The alert, its tank and the owner of the tank, as they were then */
  readonly data: {
    readonly alert: Alert;
    readonly tank: Tank;
    readonly customer: Customer;
  };
};

/** A tank was refilled, as webhooks and the feed have it */
export type RefillEvent = {
  /** Always `tank.refilled` */
  readonly type: "tank.refilled";
  /** When the refill was found */
  readonly timestamp: string;
  /** Rises with every event of the service */
  readonly sequence: number;
  /** The refill, its tank and the owner of the tank, as they were then */
  readonly data: {
    readonly refill: Refill;
    readonly tank: Tank;
    readonly customer: Customer;
  };
};

/** Events after a sequence number */
export type EventList = {
  /** Always `event_list` */
  readonly object: "event_list";
  /** Up to `size` events, oldest first */
  readonly data: readonly (AlertEvent | RefillEvent)[];
  /** What to send as `after` next */
  readonly next_after: number;
  /** Whether there are more events already */
  readonly has_more: boolean;
  /** Events after `after` may have been removed, or `after` is from another database: read the alerts again, then go on with `next_after` */
  readonly missed: boolean;
};

/** The caller */
export type Me = {
  /** Always `me` */
  readonly object: "me";
  /** Who the caller is */
  readonly type: "user" | "customer" | "key";
  /** Identifier of the user, customer or key */
  readonly id: string;
  /** The name of the user, customer or key */
  readonly name: string;
  /** Their address; null for a key */
  readonly email: string | null;
  /** `viewer`, `dispatcher`, `admin` or `customer`; of a key, its role */
  readonly role: string;
  /** The only customer the caller can see; null for all */
  readonly customer_id: string | null;
  /** Whether the customer's address is verified */
  readonly is_verified: boolean | null;
  /** Settings of mail to the customer */
  readonly notifications: {
    /** Language of mail; null: derived from the country of the tank */
    readonly language: "en" | "de" | null;
    /** Since when the customer wants no mail about alerts; null: wanted */
    readonly unsubscribed_at: string | null;
  } | null;
};

/** What a customer may change */
export type MeChange = {
  /** The mail settings to change */
  readonly notifications: {
    /** Language of mail; null: derived from the country of the tank */
    readonly language?: "en" | "de" | null;
    /** Since when the customer wants no mail about alerts; null: wanted */
    readonly unsubscribed_at?: string | null;
  };
};

/** A reading of a tank or of a device */
export type NewReading = {
  /** The tank; this or device_id */
  readonly tank_id?: string;
  /** The device that measured it; this or tank_id */
  readonly device_id?: string;
  /** When it was measured; now, if omitted. With it, a reading that is sent twice is stored once. Only one reading per tank or device in a body may omit it */
  readonly created_at?: string;
  /** Fill level as a percentage; this or payload */
  readonly fill_percentage?: number;
  /** The decoded payload of a device, interpreted by the profile of the device; at most 16 KiB */
  readonly payload?: { readonly [name: string]: unknown };
};

/** The outcomes of the readings */
export type Results = {
  /** Always `results` */
  readonly object: "results";
  /** The outcome of each reading, in the order sent */
  readonly results: readonly ({
    /** stored: it is new; duplicate: it was already stored; replaced: it replaced another value for the same instant; pending: it needs a tank, a profile or a shape first; rejected: see reason */
    readonly status: "stored" | "duplicate" | "replaced" | "pending" | "rejected";
    /** Why it was rejected */
    readonly reason?: string;
  })[];
};

/** A customer, as the operator sees it */
export type ManagedCustomer = {
  /** Unique identifier of the customer */
  readonly id: string;
  /** Always `customer` */
  readonly object: "customer";
  /** When the customer was created */
  readonly created_at: string;
  /** The customer's email address */
  readonly email: string;
  /** Whether the customer's email has been verified */
  readonly is_verified: boolean;
  /** The customer's last activity */
  readonly last_seen_at: string | null;
  /** Full name or business name */
  readonly name: string;
  /** Phone number */
  readonly phone: string | null;
  /** Number of tanks assigned to the customer */
  readonly tank_count: number;
  /** When the customer last changed any field */
  readonly updated_at: string;
  /** When the customer verified their email */
  readonly verified_at: string | null;
  /** Settings of mail to the customer */
  readonly notifications: {
    /** Language of mail; null: derived from the country of the tank */
    readonly language: "en" | "de" | null;
    /** Since when the customer wants no mail about alerts; null: wanted */
    readonly unsubscribed_at: string | null;
  };
  /** Whether the customer is deleted */
  readonly deleted: boolean;
};

/** One page of customers */
export type ManagedCustomerList = {
  /** Always `list` */
  readonly object: "list";
  /** Up to `size` objects; empty when no more are available */
  readonly data: readonly ManagedCustomer[];
  /** The page returned */
  readonly page: number;
  /** The page size in effect */
  readonly size: number;
  /** Total number of pages */
  readonly total_pages: number;
  /** Total number of items */
  readonly total_items: number;
};

/** A customer to create */
export type NewCustomer = {
  /** Unique identifier of the customer */
  readonly id?: string;
  /** The customer's email address */
  readonly email: string;
  /** Full name or business name */
  readonly name: string;
  /** Phone number */
  readonly phone?: string | null;
  /** When the customer verified their email */
  readonly verified_at?: string | null;
  /** Whether the customer's email has been verified */
  readonly is_verified?: boolean;
  /** The mail settings to change */
  readonly notifications?: {
    /** Language of mail; null: derived from the country of the tank */
    readonly language?: "en" | "de" | null;
    /** Since when the customer wants no mail about alerts; null: wanted */
    readonly unsubscribed_at?: string | null;
  };
};

/** The fields to change */
export type CustomerChange = {
  /** The customer's email address */
  readonly email?: string;
  /** Full name or business name */
  readonly name?: string;
  /** Phone number */
  readonly phone?: string | null;
  /** When the customer verified their email */
  readonly verified_at?: string | null;
  /** Whether the customer's email has been verified */
  readonly is_verified?: boolean;
  /** The mail settings to change */
  readonly notifications?: {
    /** Language of mail; null: derived from the country of the tank */
    readonly language?: "en" | "de" | null;
    /** Since when the customer wants no mail about alerts; null: wanted */
    readonly unsubscribed_at?: string | null;
  };
};

/** A tank, as the operator sees it */
export type ManagedTank = {
  /** Unique identifier of the tank */
  readonly id: string;
  /** Always `tank` */
  readonly object: "tank";
  /** Identifier of the device assigned to the tank */
  readonly assigned_device_id: string;
  /** Total capacity of the tank */
  readonly capacity: number;
  /** Unit of the capacity */
  readonly capacity_unit: "liters" | "gallons";
  /** When the tank was created */
  readonly created_at: string;
  /** Identifier for the customer's own internal use */
  readonly custom_id: string | null;
  /** Location of the tank; every key is always there and may be null */
  readonly location: {
    /** City */
    readonly city: string | null;
    /** Country */
    readonly country: string | null;
    /** District */
    readonly district: string | null;
    /** Latitude in degrees */
    readonly latitude: number | null;
    /** Longitude in degrees */
    readonly longitude: number | null;
    /** Postal code */
    readonly postal_code: string | null;
    /** Region or state */
    readonly region: string | null;
    /** Street */
    readonly street: string | null;
    /** Street number */
    readonly street_number: string | null;
  };
  /** Fill percentage at which a low-fill alert is triggered to notify the customer */
  readonly min_fill_alert_percentage: number;
  /** The tank's name */
  readonly name: string;
  /** Identifier of the owning customer */
  readonly owner_id: string;
  /** When a data field of the tank was last changed */
  readonly updated_at: string;
  /** What the tank is used for */
  readonly use_case: "residential" | "commercial" | "industrial" | null;
  readonly shape: Shape | null;
  readonly alerts: TankAlertSettings;
  /** Whether the tank is deleted */
  readonly deleted: boolean;
};

/** A tank after a change, with the pending readings that the change stored */
export type ChangedTank = {
  /** Unique identifier of the tank */
  readonly id: string;
  /** Always `tank` */
  readonly object: "tank";
  /** Identifier of the device assigned to the tank */
  readonly assigned_device_id: string;
  /** Total capacity of the tank */
  readonly capacity: number;
  /** Unit of the capacity */
  readonly capacity_unit: "liters" | "gallons";
  /** When the tank was created */
  readonly created_at: string;
  /** Identifier for the customer's own internal use */
  readonly custom_id: string | null;
  /** Location of the tank; every key is always there and may be null */
  readonly location: {
    /** City */
    readonly city: string | null;
    /** Country */
    readonly country: string | null;
    /** District */
    readonly district: string | null;
    /** Latitude in degrees */
    readonly latitude: number | null;
    /** Longitude in degrees */
    readonly longitude: number | null;
    /** Postal code */
    readonly postal_code: string | null;
    /** Region or state */
    readonly region: string | null;
    /** Street */
    readonly street: string | null;
    /** Street number */
    readonly street_number: string | null;
  };
  /** Fill percentage at which a low-fill alert is triggered to notify the customer */
  readonly min_fill_alert_percentage: number;
  /** The tank's name */
  readonly name: string;
  /** Identifier of the owning customer */
  readonly owner_id: string;
  /** When a data field of the tank was last changed */
  readonly updated_at: string;
  /** What the tank is used for */
  readonly use_case: "residential" | "commercial" | "industrial" | null;
  readonly shape: Shape | null;
  readonly alerts: TankAlertSettings;
  /** Whether the tank is deleted */
  readonly deleted: boolean;
  /** The pending readings that this stored; null if there were none */
  readonly released: {
    /** Number of pending readings stored for the tank */
    readonly readings: number;
    /** Number of pending readings that were not readable */
    readonly rejected: number;
    /** When the first of them was measured */
    readonly from: string;
    /** When the last of them was measured */
    readonly to: string;
  } | null;
};

/** One page of tanks */
export type ManagedTankList = {
  /** Always `list` */
  readonly object: "list";
  /** Up to `size` objects; empty when no more are available */
  readonly data: readonly ManagedTank[];
  /** The page returned */
  readonly page: number;
  /** The page size in effect */
  readonly size: number;
  /** Total number of pages */
  readonly total_pages: number;
  /** Total number of items */
  readonly total_items: number;
};

export type Shape = {
  readonly kind: "upright";
  /** Height of the tank, inside */
  readonly height: number;
  /** Unit of all lengths of the shape */
  readonly unit: "mm" | "cm" | "m" | "in" | "ft";
  /** How far above the tank's bottom the sensor sits; needed where a distance is measured */
  readonly sensor_height?: number;
} | {
  readonly kind: "rectangular";
  /** Height of the tank, inside */
  readonly height: number;
  /** Unit of all lengths of the shape */
  readonly unit: "mm" | "cm" | "m" | "in" | "ft";
  /** How far above the tank's bottom the sensor sits; needed where a distance is measured */
  readonly sensor_height?: number;
} | {
  readonly kind: "horizontal_cylinder";
  /** Diameter of the tank, inside */
  readonly diameter: number;
  /** `elliptical` is 2:1, each head a quarter of the diameter deep */
  readonly heads?: "flat" | "elliptical";
  /** Length of the straight part, without heads; needed for elliptical heads */
  readonly length?: number;
  /** Unit of all lengths of the shape */
  readonly unit: "mm" | "cm" | "m" | "in" | "ft";
  /** How far above the tank's bottom the sensor sits; needed where a distance is measured */
  readonly sensor_height?: number;
} | {
  readonly kind: "strapping_table";
  /** Pairs of height and volume, from [0, 0] to the full tank; volumes are in any unit, the same for all */
  readonly points: readonly (readonly number[])[];
  /** Unit of all lengths of the shape */
  readonly unit: "mm" | "cm" | "m" | "in" | "ft";
  /** How far above the tank's bottom the sensor sits; needed where a distance is measured */
  readonly sensor_height?: number;
};

/** Fields of the existing shape to change; `null` removes an optional one */
export type ShapeChange = {
  /** Height of the tank, inside */
  readonly height?: number | null;
  /** Unit of all lengths of the shape */
  readonly unit?: "mm" | "cm" | "m" | "in" | "ft" | null;
  /** How far above the tank's bottom the sensor sits; needed where a distance is measured */
  readonly sensor_height?: number | null;
  /** Diameter of the tank, inside */
  readonly diameter?: number | null;
  /** `elliptical` is 2:1, each head a quarter of the diameter deep */
  readonly heads?: "flat" | "elliptical" | null;
  /** Length of the straight part, without heads; needed for elliptical heads */
  readonly length?: number | null;
  /** Pairs of height and volume, from [0, 0] to the full tank; volumes are in any unit, the same for all */
  readonly points?: readonly (readonly number[])[] | null;
};

/** Settings for the alerts of the tank */
export type TankAlertSettings = {
  /** Time without a reading after which the tank is silent, from 10m to 365d; null: the setting of the service */
  readonly silent_after: string | null;
  /** No alert of this tank opens until then */
  readonly paused_until: string | null;
  /** false: no alert says that this tank is expected to be low soon */
  readonly runs_low_soon: boolean;
  /** false: no alert says that use of this tank is far above normal */
  readonly leak: boolean;
};

/** The settings to change; `null` clears `silent_after` or `paused_until` */
export type TankAlertSettingsChange = {
  /** Time without a reading after which the tank is silent, from 10m to 365d; null: the setting of the service */
  readonly silent_after?: string | null;
  /** No alert of this tank opens until then */
  readonly paused_until?: string | null;
  /** false: no alert says that this tank is expected to be low soon */
  readonly runs_low_soon?: boolean;
  /** false: no alert says that use of this tank is far above normal */
  readonly leak?: boolean;
};

/** A tank to create */
export type NewTank = {
  /** Unique identifier of the tank */
  readonly id?: string;
  /** Identifier of the device assigned to the tank */
  readonly assigned_device_id: string;
  /** Total capacity of the tank */
  readonly capacity: number;
  /** Unit of the capacity */
  readonly capacity_unit: "liters" | "gallons";
  /** Identifier for the customer's own internal use */
  readonly custom_id?: string | null;
  /** The fields of the location to change */
  readonly location?: {
    /** City */
    readonly city?: string | null;
    /** Country */
    readonly country?: string | null;
    /** District */
    readonly district?: string | null;
    /** Latitude in degrees */
    readonly latitude?: number | null;
    /** Longitude in degrees */
    readonly longitude?: number | null;
    /** Postal code */
    readonly postal_code?: string | null;
    /** Region or state */
    readonly region?: string | null;
    /** Street */
    readonly street?: string | null;
    /** Street number */
    readonly street_number?: string | null;
  };
  /** Fill percentage at which a low-fill alert is triggered to notify the customer */
  readonly min_fill_alert_percentage: number;
  /** The tank's name */
  readonly name: string;
  /** Identifier of the owning customer */
  readonly owner_id: string;
  /** What the tank is used for */
  readonly use_case?: "residential" | "commercial" | "industrial" | null;
  readonly shape?: Shape | null;
  readonly alerts?: TankAlertSettingsChange;
};

/** The fields to change */
export type TankChange = {
  /** Identifier of the device assigned to the tank */
  readonly assigned_device_id?: string;
  /** Total capacity of the tank */
  readonly capacity?: number;
  /** Unit of the capacity */
  readonly capacity_unit?: "liters" | "gallons";
  /** Identifier for the customer's own internal use */
  readonly custom_id?: string | null;
  /** The fields of the location to change */
  readonly location?: {
    /** City */
    readonly city?: string | null;
    /** Country */
    readonly country?: string | null;
    /** District */
    readonly district?: string | null;
    /** Latitude in degrees */
    readonly latitude?: number | null;
    /** Longitude in degrees */
    readonly longitude?: number | null;
    /** Postal code */
    readonly postal_code?: string | null;
    /** Region or state */
    readonly region?: string | null;
    /** Street */
    readonly street?: string | null;
    /** Street number */
    readonly street_number?: string | null;
  };
  /** Fill percentage at which a low-fill alert is triggered to notify the customer */
  readonly min_fill_alert_percentage?: number;
  /** The tank's name */
  readonly name?: string;
  /** Identifier of the owning customer */
  readonly owner_id?: string;
  /** What the tank is used for */
  readonly use_case?: "residential" | "commercial" | "industrial" | null;
  readonly shape?: Shape | ShapeChange | null;
  readonly alerts?: TankAlertSettingsChange;
};

export type TankRestoring = {
  /** Identifier of the device assigned to the tank */
  readonly assigned_device_id?: string;
};

/** A device, the tank it is assigned to, and the profile of its payloads */
export type Device = {
  /** Identifier of the device; an EUI-64 in lower case */
  readonly id: string;
  /** Always `device` */
  readonly object: "device";
  /** The tank it is assigned to; null if none */
  readonly tank_id: string | null;
  /** Since when; null if it was assigned to no other tank before */
  readonly since: string | null;
  readonly profile: Profile | null;
  /** Number of pending readings, which need a tank, a profile or a shape */
  readonly pending: number;
  /** Number of readings dropped because too many were pending, or not readable */
  readonly dropped: number;
};

/** A device and its pending readings */
export type InspectedDevice = {
  /** Identifier of the device; an EUI-64 in lower case */
  readonly id: string;
  /** Always `device` */
  readonly object: "device";
  /** The tank it is assigned to; null if none */
  readonly tank_id: string | null;
  /** Since when; null if it was assigned to no other tank before */
  readonly since: string | null;
  readonly profile: Profile | null;
  /** Number of pending readings, which need a tank, a profile or a shape */
  readonly pending: number;
  /** Number of readings dropped because too many were pending, or not readable */
  readonly dropped: number;
  /** Why its newest reading is pending */
  readonly pending_reason: string | null;
  /** The pending reading that was measured last */
  readonly newest_pending: {
    /** When it was measured */
    readonly created_at: string;
    /** Its fill percentage, if it has one */
    readonly fill_percentage: number | null;
    /** Otherwise its payload as JSON; a long one is truncated */
    readonly payload: string | null;
  } | null;
};

/** A device after a change, with the pending readings that the change stored */
export type ChangedDevice = {
  /** Identifier of the device; an EUI-64 in lower case */
  readonly id: string;
  /** Always `device` */
  readonly object: "device";
  /** The tank it is assigned to; null if none */
  readonly tank_id: string | null;
  /** Since when; null if it was assigned to no other tank before */
  readonly since: string | null;
  readonly profile: Profile | null;
  /** Number of pending readings, which need a tank, a profile or a shape */
  readonly pending: number;
  /** Number of readings dropped because too many were pending, or not readable */
  readonly dropped: number;
  /** Why its newest reading is pending */
  readonly pending_reason: string | null;
  /** The pending reading that was measured last */
  readonly newest_pending: {
    /** When it was measured */
    readonly created_at: string;
    /** Its fill percentage, if it has one */
    readonly fill_percentage: number | null;
    /** Otherwise its payload as JSON; a long one is truncated */
    readonly payload: string | null;
  } | null;
  /** The pending readings that this stored; null if there were none */
  readonly released: {
    /** Number of pending readings stored for the tank */
    readonly readings: number;
    /** Number of pending readings that were not readable */
    readonly rejected: number;
    /** When the first of them was measured */
    readonly from: string;
    /** When the last of them was measured */
    readonly to: string;
  } | null;
  /** The previous device of the tank; null if it is the same */
  readonly replaced_device_id: string | null;
};

/** A removed device */
export type RemovedDevice = {
  /** Identifier of the device; an EUI-64 in lower case */
  readonly id: string;
  /** Always `device` */
  readonly object: "device";
  /** Always true */
  readonly deleted: true;
  /** Number of pending readings removed */
  readonly removed: number;
  /** Its last assignment to a tank; null if none */
  readonly last_assignment: {
    /** The tank */
    readonly tank_id: string;
    /** Until when, not included */
    readonly until: string;
  } | null;
};

/** One page of devices */
export type DeviceList = {
  /** Always `list` */
  readonly object: "list";
  /** Up to `size` objects; empty when no more are available */
  readonly data: readonly Device[];
  /** The page returned */
  readonly page: number;
  /** The page size in effect */
  readonly size: number;
  /** Total number of pages */
  readonly total_pages: number;
  /** Total number of items */
  readonly total_items: number;
};

export type Profile = "milesight-em500-udl" | "milesight-em500-udl-metres" | "dragino-dds75-lb" | "dragino-dds20-lb" | "decentlab-dl-mbx" | "elsys" | "mopeka" | {
  /** Path of the measured value in the decoded object */
  readonly value: string;
  /** `distance` is from the sensor to the surface, `level` from the bottom to it */
  readonly measures: "percent" | "distance" | "level" | "volume";
  /** Unit of the value; a percentage needs none */
  readonly unit?: "mm" | "cm" | "m" | "in" | "ft" | "liters" | "gallons" | "m3" | "percent";
  /** The sensor's own marks for "no reading" */
  readonly invalid?: readonly number[];
  /** Numbers that must be within bounds for a valid reading */
  readonly checks?: readonly {
    /** Path of a number in the decoded object */
    readonly path: string;
    readonly minimum?: number;
    readonly maximum?: number;
  }[];
  /** Paths; a payload that has one of them is rejected */
  readonly unless?: readonly string[];
};

export type DeviceChange = {
  /** The tank that the device is assigned to */
  readonly tank_id?: string;
  readonly profile?: Profile | null;
  readonly shape?: Shape | ShapeChange | null;
};

/** A customer to create or change; one that is created has the fields of a new one */
export type CustomerRow = {
  /** Unique identifier of the customer */
  readonly id?: string;
  /** The customer's email address */
  readonly email?: string;
  /** Full name or business name */
  readonly name?: string;
  /** Phone number */
  readonly phone?: string | null;
  /** When the customer verified their email */
  readonly verified_at?: string | null;
  /** Whether the customer's email has been verified */
  readonly is_verified?: boolean;
  /** The mail settings to change */
  readonly notifications?: {
    /** Language of mail; null: derived from the country of the tank */
    readonly language?: "en" | "de" | null;
    /** Since when the customer wants no mail about alerts; null: wanted */
    readonly unsubscribed_at?: string | null;
  };
};

/** A tank to create or change; one that is created has the fields of a new one */
export type TankRow = {
  /** Unique identifier of the tank */
  readonly id?: string;
  /** Identifier of the device assigned to the tank */
  readonly assigned_device_id?: string;
  /** Total capacity of the tank */
  readonly capacity?: number;
  /** Unit of the capacity */
  readonly capacity_unit?: "liters" | "gallons";
  /** Identifier for the customer's own internal use */
  readonly custom_id?: string | null;
  /** The fields of the location to change */
  readonly location?: {
    /** City */
    readonly city?: string | null;
    /** Country */
    readonly country?: string | null;
    /** District */
    readonly district?: string | null;
    /** Latitude in degrees */
    readonly latitude?: number | null;
    /** Longitude in degrees */
    readonly longitude?: number | null;
    /** Postal code */
    readonly postal_code?: string | null;
    /** Region or state */
    readonly region?: string | null;
    /** Street */
    readonly street?: string | null;
    /** Street number */
    readonly street_number?: string | null;
  };
  /** Fill percentage at which a low-fill alert is triggered to notify the customer */
  readonly min_fill_alert_percentage?: number;
  /** The tank's name */
  readonly name?: string;
  /** Identifier of the owning customer */
  readonly owner_id?: string;
  /** What the tank is used for */
  readonly use_case?: "residential" | "commercial" | "industrial" | null;
  readonly shape?: Shape | ShapeChange | null;
  readonly alerts?: TankAlertSettingsChange;
  readonly profile?: Profile | null;
};

/** The result of a provisioning */
export type Provisioning = {
  /** Always `provisioning` */
  readonly object: "provisioning";
  /** Whether nothing was written */
  readonly dry_run: boolean;
  readonly customers: {
    readonly new: number;
    readonly changed: number;
    readonly unchanged: number;
  };
  readonly tanks: {
    readonly new: number;
    readonly changed: number;
    readonly unchanged: number;
  };
  /** The first 100 changes of existing objects, row by row */
  readonly changes: readonly ProvisionedChange[];
  /** Number of further changes */
  readonly more_changes: number;
};

/** A field that changes */
export type ProvisionedChange = {
  /** The position in the request */
  readonly row: string;
  /** The id of the customer or tank */
  readonly id: string;
  /** The field */
  readonly field: string;
  /** The old value */
  readonly from: unknown;
  /** The new value */
  readonly to: unknown;
};

/** A note about the alert */
export type AlertNote = {
  /** What others should know; replaces the note that the alert has */
  readonly note?: string;
};

/** Another note about the alert */
export type AlertNoteChange = {
  /** What others should know; replaces the note that the alert has */
  readonly note?: string | null;
};

/** Where the operator is notified */
export type Channel = {
  /** Identifier of the channel */
  readonly id: string;
  /** Always `channel` */
  readonly object: "channel";
  /** Type of the channel */
  readonly type: "webhook" | "email";
  /** Where it is sent: https, to a public address or one that WEBHOOK_ALLOW permits */
  readonly url: string | null;
  /** The address that mail is sent to */
  readonly to: string | null;
  /** Only these events; null: all */
  readonly events: readonly ("alert.opened" | "alert.acknowledged" | "alert.closed" | "tank.refilled")[] | null;
  /** Only alerts of these kinds, and no refills; null: all */
  readonly kinds: readonly ("low" | "runs_low_soon" | "leak" | "silent")[] | null;
  /** Only about this customer's tanks; null: about all */
  readonly customer_id: string | null;
  /** Refills are sent after this time, up to 15d, alerts only if still open and unacknowledged then; null: all at once */
  readonly delay: string | null;
  /** What it is for */
  readonly description: string | null;
  /** Mail is held from one time of day to the other */
  readonly quiet_hours: {
    /** From this time of day */
    readonly from: string;
    /** Until this time of day */
    readonly to: string;
    /** Time zone of `from` and `to` */
    readonly timezone: string;
  } | null;
  /** A disabled channel sends nothing */
  readonly state: "active" | "disabled";
  /** Why it is disabled */
  readonly disabled_reason: string | null;
  /** When the channel was created */
  readonly created_at: string;
  /** When it was last changed */
  readonly updated_at: string;
  /** Why nothing arrives, if that is known */
  readonly problem: string | null;
};

/** A channel, and the state of its deliveries */
export type ChannelDetails = {
  /** Identifier of the channel */
  readonly id: string;
  /** Always `channel` */
  readonly object: "channel";
  /** Type of the channel */
  readonly type: "webhook" | "email";
  /** Where it is sent: https, to a public address or one that WEBHOOK_ALLOW permits */
  readonly url: string | null;
  /** The address that mail is sent to */
  readonly to: string | null;
  /** Only these events; null: all */
  readonly events: readonly ("alert.opened" | "alert.acknowledged" | "alert.closed" | "tank.refilled")[] | null;
  /** Only alerts of these kinds, and no refills; null: all */
  readonly kinds: readonly ("low" | "runs_low_soon" | "leak" | "silent")[] | null;
  /** Only about this customer's tanks; null: about all */
  readonly customer_id: string | null;
  /** Refills are sent after this time, up to 15d, alerts only if still open and unacknowledged then; null: all at once */
  readonly delay: string | null;
  /** What it is for */
  readonly description: string | null;
  /** Mail is held from one time of day to the other */
  readonly quiet_hours: {
    /** From this time of day */
    readonly from: string;
    /** Until this time of day */
    readonly to: string;
    /** Time zone of `from` and `to` */
    readonly timezone: string;
  } | null;
  /** A disabled channel sends nothing */
  readonly state: "active" | "disabled";
  /** Why it is disabled */
  readonly disabled_reason: string | null;
  /** When the channel was created */
  readonly created_at: string;
  /** When it was last changed */
  readonly updated_at: string;
  /** Why nothing arrives, if that is known */
  readonly problem: string | null;
  /** Since when every delivery has failed */
  readonly failing_since: string | null;
  /** Number of notifications still to be sent */
  readonly pending: number;
  /** Number delayed, held or collected for a mail, up to 10,000 */
  readonly held: number;
  /** When one of its newest 100 notifications was delivered last */
  readonly last_delivered_at: string | null;
  /** The last error among its newest 100 notifications */
  readonly last_error: string | null;
};

/** A channel with its secret */
export type CreatedChannel = {
  /** Identifier of the channel */
  readonly id: string;
  /** Always `channel` */
  readonly object: "channel";
  /** Type of the channel */
  readonly type: "webhook" | "email";
  /** Where it is sent: https, to a public address or one that WEBHOOK_ALLOW permits */
  readonly url: string | null;
  /** The address that mail is sent to */
  readonly to: string | null;
  /** Only these events; null: all */
  readonly events: readonly ("alert.opened" | "alert.acknowledged" | "alert.closed" | "tank.refilled")[] | null;
  /** Only alerts of these kinds, and no refills; null: all */
  readonly kinds: readonly ("low" | "runs_low_soon" | "leak" | "silent")[] | null;
  /** Only about this customer's tanks; null: about all */
  readonly customer_id: string | null;
  /** Refills are sent after this time, up to 15d, alerts only if still open and unacknowledged then; null: all at once */
  readonly delay: string | null;
  /** What it is for */
  readonly description: string | null;
  /** Mail is held from one time of day to the other */
  readonly quiet_hours: {
    /** From this time of day */
    readonly from: string;
    /** Until this time of day */
    readonly to: string;
    /** Time zone of `from` and `to` */
    readonly timezone: string;
  } | null;
  /** A disabled channel sends nothing */
  readonly state: "active" | "disabled";
  /** Why it is disabled */
  readonly disabled_reason: string | null;
  /** When the channel was created */
  readonly created_at: string;
  /** When it was last changed */
  readonly updated_at: string;
  /** Why nothing arrives, if that is known */
  readonly problem: string | null;
  /** What webhooks are signed with, shown only once; null for e-mail, and if the request is replayed */
  readonly secret: string | null;
};

/** A deleted channel */
export type DeletedChannel = {
  /** Identifier of the deleted channel */
  readonly id: string;
  readonly object: "channel";
  readonly deleted: true;
};

/** One page of channels */
export type ChannelList = {
  /** Always `list` */
  readonly object: "list";
  /** Up to `size` objects; empty when no more are available */
  readonly data: readonly Channel[];
  /** The page returned */
  readonly page: number;
  /** The page size in effect */
  readonly size: number;
  /** Total number of pages */
  readonly total_pages: number;
  /** Total number of items */
  readonly total_items: number;
};

/** What is sent again */
export type ChannelRecovery = {
  /** Always `channel_recovery` */
  readonly object: "channel_recovery";
  /** The channel */
  readonly channel_id: string;
  /** Number of notifications that are sent again */
  readonly recovered: number;
};

/** A webhook */
export type NewWebhookChannel = {
  /** Type of the channel */
  readonly type: "webhook";
  /** Where it is sent: https, to a public address or one that WEBHOOK_ALLOW permits */
  readonly url: string;
  /** Only these events; null: all */
  readonly events?: readonly ("alert.opened" | "alert.acknowledged" | "alert.closed" | "tank.refilled")[] | null;
  /** Only alerts of these kinds, and no refills; null: all */
  readonly kinds?: readonly ("low" | "runs_low_soon" | "leak" | "silent")[] | null;
  /** Only about this customer's tanks; null: about all */
  readonly customer_id?: string | null;
  /** Refills are sent after this time, up to 15d, alerts only if still open and unacknowledged then; null: all at once */
  readonly delay?: string | null;
  /** What it is for */
  readonly description?: string | null;
};

/** An e-mail address */
export type NewEmailChannel = {
  /** Type of the channel */
  readonly type: "email";
  /** The address that mail is sent to */
  readonly to: string;
  /** Only these events; null: all */
  readonly events?: readonly ("alert.opened" | "alert.acknowledged" | "alert.closed" | "tank.refilled")[] | null;
  /** Only alerts of these kinds, and no refills; null: all */
  readonly kinds?: readonly ("low" | "runs_low_soon" | "leak" | "silent")[] | null;
  /** Only about this customer's tanks; null: about all */
  readonly customer_id?: string | null;
  /** Refills are sent after this time, up to 15d, alerts only if still open and unacknowledged then; null: all at once */
  readonly delay?: string | null;
  /** What it is for */
  readonly description?: string | null;
  /** Mail is held from one time of day to the other */
  readonly quiet_hours?: {
    /** From this time of day */
    readonly from: string;
    /** Until this time of day */
    readonly to: string;
    /** Time zone of `from` and `to` */
    readonly timezone: string;
  } | null;
};

/** Changes of a webhook */
export type WebhookChannelChange = {
  /** Where it is sent: https, to a public address or one that WEBHOOK_ALLOW permits */
  readonly url?: string;
  /** Only these events; null: all */
  readonly events?: readonly ("alert.opened" | "alert.acknowledged" | "alert.closed" | "tank.refilled")[] | null;
  /** Only alerts of these kinds, and no refills; null: all */
  readonly kinds?: readonly ("low" | "runs_low_soon" | "leak" | "silent")[] | null;
  /** Only about this customer's tanks; null: about all */
  readonly customer_id?: string | null;
  /** Refills are sent after this time, up to 15d, alerts only if still open and unacknowledged then; null: all at once */
  readonly delay?: string | null;
  /** What it is for */
  readonly description?: string | null;
  /** active: enables a disabled channel again */
  readonly state?: "active" | "disabled";
};

/** Changes of an e-mail channel */
export type EmailChannelChange = {
  /** The address that mail is sent to */
  readonly to?: string;
  /** Only these events; null: all */
  readonly events?: readonly ("alert.opened" | "alert.acknowledged" | "alert.closed" | "tank.refilled")[] | null;
  /** Only alerts of these kinds, and no refills; null: all */
  readonly kinds?: readonly ("low" | "runs_low_soon" | "leak" | "silent")[] | null;
  /** Only about this customer's tanks; null: about all */
  readonly customer_id?: string | null;
  /** Refills are sent after this time, up to 15d, alerts only if still open and unacknowledged then; null: all at once */
  readonly delay?: string | null;
  /** What it is for */
  readonly description?: string | null;
  readonly quiet_hours?: {
    /** From this time of day */
    readonly from?: string;
    /** Until this time of day */
    readonly to?: string;
    /** Time zone of `from` and `to` */
    readonly timezone?: string;
  } | null;
  /** active: enables a disabled channel again */
  readonly state?: "active" | "disabled";
};

/** What to send again */
export type Recovery = {
  /** Send notifications again that have failed or expired since then */
  readonly since: string;
};

/** One message to one recipient */
export type Notification = {
  /** Identifier of the notification; of a webhook also its `webhook-id` */
  readonly id: string;
  /** Always `notification` */
  readonly object: "notification";
  /** The channel it is sent to; null: mail to a customer */
  readonly channel_id: string | null;
  /** The customer it is sent to; null: to a channel */
  readonly customer_id: string | null;
  /** What it is about */
  readonly event: "alert.opened" | "alert.acknowledged" | "alert.closed" | "tank.refilled" | "channel.test" | "alert.reminder" | "alert.digest" | "customer.verification" | "channel.disabled";
  /** The alerts it is about */
  readonly alert_ids: readonly string[];
  /** The tank, if it is about one */
  readonly tank_id: string | null;
  /** pending: still to be sent; failed: given up after the last attempt; expired: not sent in time */
  readonly state: "pending" | "delivered" | "failed" | "expired";
  /** When it is sent next */
  readonly next_attempt_at: string | null;
  /** When it was created */
  readonly created_at: string;
  /** The attempts to send it, oldest first */
  readonly attempts: readonly ({
    /** When it was sent */
    readonly at: string;
    /** The status of the HTTP response, or of the mail server */
    readonly status: number | null;
    /** How long it took, in milliseconds */
    readonly duration_ms: number;
    /** What went wrong */
    readonly error: string | null;
  })[];
};

/** One page of notifications */
export type NotificationList = {
  /** Always `list` */
  readonly object: "list";
  /** Up to `size` objects; empty when no more are available */
  readonly data: readonly Notification[];
  /** The page returned */
  readonly page: number;
  /** The page size in effect */
  readonly size: number;
  /** Total number of pages */
  readonly total_pages: number;
  /** Total number of items */
  readonly total_items: number;
};

/** Which mail to customers to send again */
export type MailRecovery = {
  /** Send notifications again that have failed or expired since then */
  readonly since: string;
  /** Only mail to this customer; without it, to all */
  readonly customer_id?: string;
};

/** What is sent again */
export type NotificationRecovery = {
  /** Always `notification_recovery` */
  readonly object: "notification_recovery";
  /** Number of notifications that are sent again */
  readonly recovered: number;
};

/** A key, without its secret */
export type Key = {
  /** Identifier of the key; not its secret */
  readonly id: string;
  /** Always `key` */
  readonly object: "key";
  /** What the key is for */
  readonly name: string;
  /** What the key may do */
  readonly role: "read" | "ingest" | "manage" | "metrics";
  /** The only customer the key can see */
  readonly customer_id: string | null;
  /** The only device an ingest key can send for */
  readonly device_id: string | null;
  /** Requests a second */
  readonly rate: number | null;
  /** When the key was created */
  readonly created_at: string;
  /** When the key expires */
  readonly expires_at: string | null;
  /** When the key was revoked */
  readonly revoked_at: string | null;
  /** The key that replaced it when it was rotated */
  readonly replaced_by: string | null;
  /** Whether it is active, or why not */
  readonly state: "active" | "revoked" | "expired" | "customer_deleted";
};

/** A new key with its secret */
export type CreatedKey = {
  /** Identifier of the key; not its secret */
  readonly id: string;
  /** Always `key` */
  readonly object: "key";
  /** What the key is for */
  readonly name: string;
  /** What the key may do */
  readonly role: "read" | "ingest" | "manage" | "metrics";
  /** The only customer the key can see */
  readonly customer_id: string | null;
  /** The only device an ingest key can send for */
  readonly device_id: string | null;
  /** Requests a second */
  readonly rate: number | null;
  /** When the key was created */
  readonly created_at: string;
  /** When the key expires */
  readonly expires_at: string | null;
  /** When the key was revoked */
  readonly revoked_at: string | null;
  /** The key that replaced it when it was rotated */
  readonly replaced_by: string | null;
  /** Whether it is active, or why not */
  readonly state: "active" | "revoked" | "expired" | "customer_deleted";
  /** The key itself, shown only once; null if the request is replayed */
  readonly secret: string | null;
};

/** One page of keys */
export type KeyList = {
  /** Always `list` */
  readonly object: "list";
  /** Up to `size` objects; empty when no more are available */
  readonly data: readonly Key[];
  /** The page returned */
  readonly page: number;
  /** The page size in effect */
  readonly size: number;
  /** Total number of pages */
  readonly total_pages: number;
  /** Total number of items */
  readonly total_items: number;
};

/** A key to create */
export type NewKey = {
  /** What the key is for */
  readonly name: string;
  /** Requests a second */
  readonly rate?: number | null;
  /** When the key expires */
  readonly expires_at?: string | null;
  /** What the key may do */
  readonly role?: "read" | "ingest" | "manage" | "metrics";
  /** The only customer the key can see */
  readonly customer_id?: string | null;
  /** The only device an ingest key can send for */
  readonly device_id?: string | null;
};

/** The fields to change */
export type KeyChange = {
  /** What the key is for */
  readonly name?: string;
  /** Requests a second */
  readonly rate?: number | null;
  /** When the key expires */
  readonly expires_at?: string | null;
};

/** A member of the operator's staff, who signs in */
export type User = {
  /** Identifier of the user */
  readonly id: string;
  /** Always `user` */
  readonly object: "user";
  /** The address that sign-in mail goes to */
  readonly email: string;
  /** The name of the person */
  readonly name: string;
  /** viewer: reads the fleet, tanks, alerts and customers; dispatcher: also changes them; admin: everything, also keys, channels and users */
  readonly role: "viewer" | "dispatcher" | "admin";
  /** When the user was created */
  readonly created_at: string;
  /** When it was last changed */
  readonly updated_at: string;
};

/** One page of users */
export type UserList = {
  /** Always `list` */
  readonly object: "list";
  /** Up to `size` objects; empty when no more are available */
  readonly data: readonly User[];
  /** The page returned */
  readonly page: number;
  /** The page size in effect */
  readonly size: number;
  /** Total number of pages */
  readonly total_pages: number;
  /** Total number of items */
  readonly total_items: number;
};

/** A user to create */
export type NewUser = {
  /** The address that sign-in mail goes to */
  readonly email: string;
  /** The name of the person */
  readonly name: string;
  /** viewer: reads the fleet, tanks, alerts and customers; dispatcher: also changes them; admin: everything, also keys, channels and users */
  readonly role: "viewer" | "dispatcher" | "admin";
};

/** The fields to change */
export type UserChange = {
  /** The address that sign-in mail goes to */
  readonly email?: string;
  /** The name of the person */
  readonly name?: string;
  /** viewer: reads the fleet, tanks, alerts and customers; dispatcher: also changes them; admin: everything, also keys, channels and users */
  readonly role?: "viewer" | "dispatcher" | "admin";
};

/** A deleted user */
export type RemovedUser = {
  /** Identifier of the deleted user */
  readonly id: string;
  readonly object: "user";
  readonly deleted: true;
};

/** A link that signs a user or customer in, once */
export type SignInLink = {
  /** Always `sign_in_link` */
  readonly object: "sign_in_link";
  /** The user who signs in with it; null for a customer */
  readonly user_id: string | null;
  /** The customer who signs in with it; null for a user */
  readonly customer_id: string | null;
  /** Where they sign in, on PUBLIC_URL; without it, a path of this service */
  readonly url: string;
  /** Until when it is valid */
  readonly expires_at: string;
};

/** An action: by whom, when, and what changed */
export type AuditEntry = {
  /** Sequence number from 1, without gaps */
  readonly number: number;
  /** Always `audit_entry` */
  readonly object: "audit_entry";
  /** When it was done */
  readonly created_at: string;
  /** The id of the key, user or customer that made the change, or a name such as `command line` or `import` */
  readonly by: string;
  /** What was done */
  readonly action: "created" | "changed" | "deleted" | "restored" | "rotated" | "revoked" | "acknowledged" | "closed" | "tested" | "recovered" | "retried" | "mail_recovered" | "link_created" | "signed_in" | "signed_out";
  /** Type of the changed object */
  readonly type: "customer" | "tank" | "device" | "key" | "alert" | "channel" | "notification" | "user";
  /** The id of that object */
  readonly id: string;
  /** The fields that differ, each with its value before (`from`) and after (`to`) */
  readonly changes: { readonly [name: string]: unknown };
};

/** One page of the audit log */
export type AuditList = {
  /** Always `list` */
  readonly object: "list";
  /** Up to `size` objects; empty when no more are available */
  readonly data: readonly AuditEntry[];
  /** The page returned */
  readonly page: number;
  /** The page size in effect */
  readonly size: number;
  /** Total number of pages */
  readonly total_pages: number;
  /** Total number of items */
  readonly total_items: number;
};

/** An account that can be signed in to */
export type Account = {
  /** Identifier of the user or customer */
  readonly id: string;
  /** Always `account` */
  readonly object: "account";
  /** Whose account it is */
  readonly type: "user" | "customer";
  /** The name of the user or customer */
  readonly name: string;
  /** What the account may do */
  readonly role: "customer" | "viewer" | "dispatcher" | "admin";
};

/** A browser that is signed in to an account */
export type Session = {
  /** Identifier of the session; not its secret */
  readonly id: string;
  /** Always `session` */
  readonly object: "session";
  /** The user who is signed in; null for a customer */
  readonly user_id: string | null;
  /** The customer who is signed in; null for a user */
  readonly customer_id: string | null;
  /** What the account may do */
  readonly role: "customer" | "viewer" | "dispatcher" | "admin";
  /** The name of the user or customer */
  readonly name: string;
  /** Their address */
  readonly email: string;
  /** When they signed in */
  readonly created_at: string;
  /** When the session ends */
  readonly expires_at: string;
  /** What the browser says it is */
  readonly user_agent: string | null;
  /** Whether it is the session of this request */
  readonly current: boolean;
};

/** One page of sessions */
export type SessionList = {
  /** Always `list` */
  readonly object: "list";
  /** Up to `size` objects; empty when no more are available */
  readonly data: readonly Session[];
  /** The page returned */
  readonly page: number;
  /** The page size in effect */
  readonly size: number;
  /** Total number of pages */
  readonly total_pages: number;
  /** Total number of items */
  readonly total_items: number;
};

/** A deleted session */
export type EndedSession = {
  /** Identifier of the deleted session */
  readonly id: string;
  readonly object: "session";
  readonly deleted: true;
};

/** Who wants to sign in */
export type SignInRequest = {
  /** The address, in whatever case */
  readonly email: string;
};

/** The same for known and unknown addresses */
export type SignInRequested = {
  /** Always `sign_in_request` */
  readonly object: "sign_in_request";
  /** The address, in whatever case */
  readonly email: string;
  /** Until when the link and the code are valid, if a mail was sent */
  readonly expires_at: string;
};

/** A link */
export type SignInToken = {
  /** The token of the link */
  readonly token: string;
};

/** A link that was not used yet */
export type SignInDetails = {
  /** Always `sign_in_details` */
  readonly object: "sign_in_details";
  /** The address that it was sent to */
  readonly email: string;
  /** Whether the link was requested in this browser; if so, the page need not ask for confirmation */
  readonly same_browser: boolean;
  /** What the link or code opens */
  readonly accounts: readonly Account[];
  /** Until when it is valid */
  readonly expires_at: string;
};

/** The token of a link, or an address and a code */
export type SignInProof = {
  /** The token of the link */
  readonly token?: string;
  /** The address, in whatever case */
  readonly email?: string;
  /** The eight digits in the mail */
  readonly code?: string;
  /** The user or customer to sign in as, where several have the address */
  readonly account?: string;
};

/** Several accounts have the address: send the same again, with one of them as `account` */
export type AccountChoice = {
  /** Always `account_choice` */
  readonly object: "account_choice";
  /** What the link or code opens */
  readonly accounts: readonly Account[];
};

/** Problem details (RFC 9457) */
export type Problem = {
  /** A URN for this kind of error */
  readonly type: string;
  /** The kind of error, in words */
  readonly title: string;
  /** The HTTP status */
  readonly status: number;
  /** What is wrong with this request, and how to correct it */
  readonly detail: string;
  /** The kind of error, for programs */
  readonly code: "parameter_unknown" | "parameter_invalid" | "parameter_repeated" | "encoding_invalid" | "request_malformed" | "body_missing" | "body_malformed" | "body_invalid" | "idempotency_key_invalid" | "key_missing" | "key_invalid" | "key_expired" | "key_revoked" | "session_missing" | "session_ended" | "account_changed" | "sign_in_invalid" | "role_insufficient" | "origin_not_allowed" | "route_unknown" | "customer_unknown" | "tank_unknown" | "tank_deleted" | "device_unknown" | "key_unknown" | "alert_unknown" | "channel_unknown" | "notification_unknown" | "user_unknown" | "session_unknown" | "method_not_allowed" | "request_timeout" | "device_in_use" | "customer_has_tanks" | "id_taken" | "state_conflict" | "precondition_failed" | "body_too_large" | "url_too_long" | "media_type_unsupported" | "idempotency_key_reused" | "headers_too_large" | "rate_limited" | "keys_throttled" | "internal" | "store_unavailable" | "data_damaged" | "overloaded";
  /** The invalid parameter, if there is one */
  readonly param?: string;
  /** The invalid fields of the body, if there are any */
  readonly errors?: readonly {
    /** The path of the field; empty for the whole body */
    readonly field: string;
    /** What is wrong with it */
    readonly message: string;
  }[];
  /** The id of the request, also in X-Request-Id and in the log of the service */
  readonly request_id: string;
};

export type ListCustomersOptions = RequestOptions & {
  /** Minimum value of `created_at` to include (inclusive), such as 2026-11-01T00:00:00Z */
  readonly created_at_gte?: string;
  /** Maximum value of `created_at` to include (inclusive), such as 2026-11-01T00:00:00Z */
  readonly created_at_lte?: string;
  /** Which page to return */
  readonly page?: number;
  /** Maximum number of objects to return */
  readonly size?: number;
  /** Case-sensitive exact filter on the customer's `email` field */
  readonly email?: string;
};

export type ListTanksOptions = RequestOptions & {
  /** Minimum value of `created_at` to include (inclusive), such as 2026-11-01T00:00:00Z */
  readonly created_at_gte?: string;
  /** Maximum value of `created_at` to include (inclusive), such as 2026-11-01T00:00:00Z */
  readonly created_at_lte?: string;
  /** Which page to return */
  readonly page?: number;
  /** Maximum number of objects to return */
  readonly size?: number;
};

export type ListTelemetryOptions = RequestOptions & {
  /** Minimum value of `created_at` to include (inclusive), such as 2026-11-01T00:00:00Z */
  readonly created_at_gte?: string;
  /** Maximum value of `created_at` to include (inclusive), such as 2026-11-01T00:00:00Z */
  readonly created_at_lte?: string;
  /** Which page to return */
  readonly page?: number;
  /** Maximum number of objects to return */
  readonly size?: number;
};

export type ListFleetOptions = RequestOptions & {
  /** Which page to return */
  readonly page?: number;
  /** Maximum number of objects to return */
  readonly size?: number;
  /** urgency: low tanks first, by when they are empty, then those with a stale forecast or a sudden fall, then those that run low, by when, then the others, by margin; margin: the smallest first; tanks without a reading come last in both; silent: the oldest latest reading first, those without a reading before all */
  readonly sort?: "urgency" | "margin" | "silent";
  /** Only those in this state */
  readonly state?: "low" | "ok" | "unknown";
  /** Only those without a reading for this long, such as 24h or 7d, or without any */
  readonly silent_for?: string;
  /** Only those of this customer */
  readonly owner_id?: string;
  /** Only those whose city begins with this text; letters A to Z match in either case */
  readonly city?: string;
  /** Only those with an alert of this kind that is not closed */
  readonly alert?: "low" | "runs_low_soon" | "leak" | "silent";
  /** Only those where each word of this text is part of the tank's name, id, custom_id, device or address, or of the name or phone number of its owner, ignoring case */
  readonly search?: string;
  /** Only those within west,south,east,north in degrees, such as 7.5,47.8,8,48.2; or `none`: only those without coordinates */
  readonly bbox?: string;
};

export type ListRefillsOptions = RequestOptions & {
  /** Which page to return */
  readonly page?: number;
  /** Maximum number of objects to return */
  readonly size?: number;
};

export type RetrieveSeriesOptions = RequestOptions & {
  /** Readings from this instant (inclusive); 30 days before `to` by default, such as 2026-11-01T00:00:00Z */
  readonly from?: string;
  /** Readings before this instant (exclusive); by default the end of the current quarter of an hour, such as 2026-11-01T00:00:00Z */
  readonly to?: string;
  /** The length of a bucket: 15m, 1h, 6h, 1d, 1w (from Monday), 1M, or auto: the shortest with at most 400 buckets in the range */
  readonly step?: "15m" | "1h" | "6h" | "1d" | "1w" | "1M" | "auto";
  /** The time zone of hours, days, weeks and months */
  readonly timezone?: string;
};

export type ListAlertsOptions = RequestOptions & {
  /** Minimum value of `opened_at` to include (inclusive), such as 2026-11-01T00:00:00Z */
  readonly opened_at_gte?: string;
  /** Maximum value of `opened_at` to include (inclusive), such as 2026-11-01T00:00:00Z */
  readonly opened_at_lte?: string;
  /** Which page to return */
  readonly page?: number;
  /** Maximum number of objects to return */
  readonly size?: number;
  /** Only those in this state */
  readonly state?: "open" | "acknowledged" | "closed";
  /** Only those of this kind */
  readonly kind?: "low" | "runs_low_soon" | "leak" | "silent";
  /** Only those of this tank */
  readonly tank_id?: string;
  /** Only those of tanks that this customer owns now */
  readonly owner_id?: string;
};

export type ListEventsOptions = RequestOptions & {
  /** The sequence number that you have reached; from the oldest event by default */
  readonly after?: number;
  /** Maximum number of objects to return */
  readonly size?: number;
};

export type ReceiveChirpstackOptions = RequestOptions & {
  /** The kind of event, which ChirpStack adds; all but `up` are ignored */
  readonly event?: string;
};

export type ReceiveTtsOptions = RequestOptions & {
  /** The kind of event, which ChirpStack adds; all but `up` are ignored */
  readonly event?: string;
};

export type SearchCustomersOptions = RequestOptions & {
  /** Minimum value of `created_at` to include (inclusive), such as 2026-11-01T00:00:00Z */
  readonly created_at_gte?: string;
  /** Maximum value of `created_at` to include (inclusive), such as 2026-11-01T00:00:00Z */
  readonly created_at_lte?: string;
  /** Which page to return */
  readonly page?: number;
  /** Maximum number of objects to return */
  readonly size?: number;
  /** Only those whose name begins with this text; letters A to Z match in either case */
  readonly name?: string;
  /** Only those whose email begins with this text; letters A to Z match in either case */
  readonly email?: string;
  /** Only those where each word of this text is part of the customer's name, id, e-mail address or phone number, ignoring case */
  readonly search?: string;
  /** Deleted ones instead of existing ones */
  readonly deleted?: boolean;
};

export type CreateCustomerOptions = RequestOptions & {
  /** A unique key for this request, under which it is executed only once. A random one by default. */
  readonly idempotencyKey?: string;
};

export type ChangeCustomerOptions = RequestOptions & {
  /** Only if the object is still as it was: the object as it was received, or its ETag. */
  readonly ifMatch?: string | object;
};

export type DeleteCustomerOptions = RequestOptions & {
  /** Also deletes the customer's tanks */
  readonly tanks?: boolean;
  /** Only if the object is still as it was: the object as it was received, or its ETag. */
  readonly ifMatch?: string | object;
};

export type RequestVerificationOptions = RequestOptions & {
  /** A unique key for this request, under which it is executed only once. A random one by default. */
  readonly idempotencyKey?: string;
};

export type RestoreCustomerOptions = RequestOptions & {
  /** Also restores the tanks that were deleted together with it */
  readonly tanks?: boolean;
  /** Only if the object is still as it was: the object as it was received, or its ETag. */
  readonly ifMatch?: string | object;
};

export type SearchTanksOptions = RequestOptions & {
  /** Minimum value of `created_at` to include (inclusive), such as 2026-11-01T00:00:00Z */
  readonly created_at_gte?: string;
  /** Maximum value of `created_at` to include (inclusive), such as 2026-11-01T00:00:00Z */
  readonly created_at_lte?: string;
  /** Which page to return */
  readonly page?: number;
  /** Maximum number of objects to return */
  readonly size?: number;
  /** Only those whose name begins with this text; letters A to Z match in either case */
  readonly name?: string;
  /** Only those whose city begins with this text; letters A to Z match in either case */
  readonly city?: string;
  /** Only those whose custom_id begins with this text; letters A to Z match in either case */
  readonly custom_id?: string;
  /** Only those of this customer */
  readonly owner_id?: string;
  /** Only the one with this device */
  readonly device_id?: string;
  /** Deleted ones instead of existing ones */
  readonly deleted?: boolean;
};

export type CreateTankOptions = RequestOptions & {
  /** A unique key for this request, under which it is executed only once. A random one by default. */
  readonly idempotencyKey?: string;
};

export type ChangeTankOptions = RequestOptions & {
  /** If the device is assigned to another tank, the two tanks swap their devices */
  readonly swap?: boolean;
  /** Only if the object is still as it was: the object as it was received, or its ETag. */
  readonly ifMatch?: string | object;
};

export type DeleteTankOptions = RequestOptions & {
  /** Only if the object is still as it was: the object as it was received, or its ETag. */
  readonly ifMatch?: string | object;
};

export type RestoreTankOptions = RequestOptions & {
  /** Only if the object is still as it was: the object as it was received, or its ETag. */
  readonly ifMatch?: string | object;
};

export type ListDevicesOptions = RequestOptions & {
  /** Which page to return */
  readonly page?: number;
  /** Maximum number of objects to return */
  readonly size?: number;
  /** Those with pending readings, or those without */
  readonly pending?: boolean;
};

export type PutDeviceOptions = RequestOptions & {
  /** If the device is assigned to another tank, the two tanks swap their devices */
  readonly swap?: boolean;
  /** Only if the object is still as it was: the object as it was received, or its ETag. */
  readonly ifMatch?: string | object;
};

export type ChangeDeviceOptions = RequestOptions & {
  /** If the device is assigned to another tank, the two tanks swap their devices */
  readonly swap?: boolean;
  /** Only if the object is still as it was: the object as it was received, or its ETag. */
  readonly ifMatch?: string | object;
};

export type RemoveDeviceOptions = RequestOptions & {
  /** Only if the object is still as it was: the object as it was received, or its ETag. */
  readonly ifMatch?: string | object;
};

export type ProvisionOptions = RequestOptions & {
  /** Validates only, and writes nothing */
  readonly dry_run?: boolean;
  /** A unique key for this request, under which it is executed only once. A random one by default. */
  readonly idempotencyKey?: string;
};

export type ChangeAlertOptions = RequestOptions & {
  /** Only if the object is still as it was: the object as it was received, or its ETag. */
  readonly ifMatch?: string | object;
};

export type AcknowledgeAlertOptions = RequestOptions & {
  /** Only if the object is still as it was: the object as it was received, or its ETag. */
  readonly ifMatch?: string | object;
  /** A unique key for this request, under which it is executed only once. A random one by default. */
  readonly idempotencyKey?: string;
};

export type CloseAlertOptions = RequestOptions & {
  /** Only if the object is still as it was: the object as it was received, or its ETag. */
  readonly ifMatch?: string | object;
  /** A unique key for this request, under which it is executed only once. A random one by default. */
  readonly idempotencyKey?: string;
};

export type ListChannelsOptions = RequestOptions & {
  /** Which page to return */
  readonly page?: number;
  /** Maximum number of objects to return */
  readonly size?: number;
};

export type CreateChannelOptions = RequestOptions & {
  /** A unique key for this request, under which it is executed only once. A random one by default. */
  readonly idempotencyKey?: string;
};

export type ChangeChannelOptions = RequestOptions & {
  /** Only if the object is still as it was: the object as it was received, or its ETag. */
  readonly ifMatch?: string | object;
};

export type DeleteChannelOptions = RequestOptions & {
  /** Only if the object is still as it was: the object as it was received, or its ETag. */
  readonly ifMatch?: string | object;
};

export type TestChannelOptions = RequestOptions & {
  /** A unique key for this request, under which it is executed only once. A random one by default. */
  readonly idempotencyKey?: string;
};

export type RotateChannelOptions = RequestOptions & {
  /** How long the old secret signs, too, such as 24h or 30m */
  readonly overlap?: string;
};

export type ListNotificationsOptions = RequestOptions & {
  /** Minimum value of `created_at` to include (inclusive), such as 2026-11-01T00:00:00Z */
  readonly created_at_gte?: string;
  /** Maximum value of `created_at` to include (inclusive), such as 2026-11-01T00:00:00Z */
  readonly created_at_lte?: string;
  /** Which page to return */
  readonly page?: number;
  /** Maximum number of objects to return */
  readonly size?: number;
  /** Only those to this channel */
  readonly channel_id?: string;
  /** Only mail to this customer */
  readonly customer_id?: string;
  /** Only those about this alert */
  readonly alert_id?: string;
  /** Only those in this state */
  readonly state?: "pending" | "delivered" | "failed" | "expired";
};

export type ListKeysOptions = RequestOptions & {
  /** Which page to return */
  readonly page?: number;
  /** Maximum number of objects to return */
  readonly size?: number;
};

export type CreateKeyOptions = RequestOptions & {
  /** A unique key for this request, under which it is executed only once. A random one by default. */
  readonly idempotencyKey?: string;
};

export type ChangeKeyOptions = RequestOptions & {
  /** Only if the object is still as it was: the object as it was received, or its ETag. */
  readonly ifMatch?: string | object;
};

export type RevokeKeyOptions = RequestOptions & {
  /** Only if the object is still as it was: the object as it was received, or its ETag. */
  readonly ifMatch?: string | object;
};

export type RotateKeyOptions = RequestOptions & {
  /** How long the old key continues to work, such as 24h or 30m */
  readonly overlap?: string;
};

export type ListUsersOptions = RequestOptions & {
  /** Which page to return */
  readonly page?: number;
  /** Maximum number of objects to return */
  readonly size?: number;
  /** Only the user with this address, in whatever case */
  readonly email?: string;
};

export type CreateUserOptions = RequestOptions & {
  /** A unique key for this request, under which it is executed only once. A random one by default. */
  readonly idempotencyKey?: string;
};

export type ChangeUserOptions = RequestOptions & {
  /** Only if the object is still as it was: the object as it was received, or its ETag. */
  readonly ifMatch?: string | object;
};

export type RemoveUserOptions = RequestOptions & {
  /** Only if the object is still as it was: the object as it was received, or its ETag. */
  readonly ifMatch?: string | object;
};

export type ListUserSessionsOptions = RequestOptions & {
  /** Which page to return */
  readonly page?: number;
  /** Maximum number of objects to return */
  readonly size?: number;
};

export type ListCustomerSessionsOptions = RequestOptions & {
  /** Which page to return */
  readonly page?: number;
  /** Maximum number of objects to return */
  readonly size?: number;
};

export type ListAuditOptions = RequestOptions & {
  /** Minimum value of `created_at` to include (inclusive), such as 2026-11-01T00:00:00Z */
  readonly created_at_gte?: string;
  /** Maximum value of `created_at` to include (inclusive), such as 2026-11-01T00:00:00Z */
  readonly created_at_lte?: string;
  /** Which page to return */
  readonly page?: number;
  /** Maximum number of objects to return */
  readonly size?: number;
  /** Only actions by this key, user or customer */
  readonly by?: string;
  /** Only actions on objects of this type */
  readonly type?: "customer" | "tank" | "device" | "key" | "alert" | "channel" | "notification" | "user";
  /** Only actions on the object with this id */
  readonly id?: string;
};

export type ListSessionsOptions = RequestOptions & {
  /** Which page to return */
  readonly page?: number;
  /** Maximum number of objects to return */
  readonly size?: number;
};

export type Client = {
  readonly customers: {
    /** List customers. Customers by creation date, newest first. Requires a key with the role `read` or `manage`. */
    readonly list: (options?: ListCustomersOptions) => List<Customer, CustomerList>;
    /** Retrieve a customer. One customer. Of a deleted one, only its identifier is returned, with `deleted` set to true. Requires a key with the role `read` or `manage`. */
    readonly retrieve: (id: string, options?: RequestOptions) => Promise<Customer | DeletedCustomer>;
  };
  readonly tanks: {
    /** List tanks. Tanks by creation date, newest first. Requires a key with the role `read` or `manage`. */
    readonly list: (options?: ListTanksOptions) => List<Tank, TankList>;
    /** Retrieve a tank. One tank. Of a deleted one, only its identifier is returned, with `deleted` set to true. Requires a key with the role `read` or `manage`. */
    readonly retrieve: (id: string, options?: RequestOptions) => Promise<Tank | DeletedTank>;
    /** List telemetry of a tank. The fill readings of one tank, newest first. Requires a key with the role `read` or `manage`. */
    readonly telemetry: (id: string, options?: ListTelemetryOptions) => List<Telemetry, TelemetryList>;
  };
  readonly insight: {
    readonly fleet: {
      /** List tanks by urgency. Tanks with their latest reading, when they run low, what is in them and what fits into them, their owner and their alerts, the most urgent first. The order, and what filters find, may be a minute old: see `as_of`. Requires a session, or a key with the role `read` or `manage`. */
      readonly list: (options?: ListFleetOptions) => List<FleetTank, FleetList>;
    };
    readonly tanks: {
      /** Retrieve a tank of the fleet. One tank as in the fleet. Requires a session, or a key with the role `read` or `manage`. */
      readonly retrieve: (id: string, options?: RequestOptions) => Promise<FleetTank>;
      /** Retrieve the forecast of a tank. When the tank falls to its threshold and when it is empty, as ranges. It is computed soon after each new reading, and at least once a day. Requires a session, or a key with the role `read` or `manage`. */
      readonly forecast: (id: string, options?: RequestOptions) => Promise<Forecast>;
      /** List the refills of a tank. Deliveries of the last two years, found in the readings, newest first. One is listed once the level has stayed up for 12 hours to two days. Requires a session, or a key with the role `read` or `manage`. */
      readonly refills: (id: string, options?: ListRefillsOptions) => List<Refill, RefillList>;
      /** Retrieve the series of a tank. Minimum, maximum, mean, last and count of a tank's readings by hours, days, weeks or months, local ones in the time zone. A range may have 10,000 buckets and 10,000,000 readings. Requires a session, or a key with the role `read` or `manage`. */
      readonly series: (id: string, options?: RetrieveSeriesOptions) => Promise<Series>;
    };
    /** Retrieve the map of the fleet. Where all tanks are, by how urgent they are, and the towns they are in. It may be two minutes old. `bbox` of the fleet lists the tanks of an area. Requires a session, or a key with the role `read` or `manage`. */
    readonly map: (options?: RequestOptions) => Promise<FleetMap>;
    /** Retrieve the series of several tanks. The same for up to 100 tanks in one request, which may have 40,000 buckets together. It changes nothing. Requires a session, or a key with the role `read` or `manage`. */
    readonly series: (body: SeriesQuery, options?: RequestOptions) => Promise<SeriesList>;
    readonly alerts: {
      /** List alerts. Alerts of tanks by the time they were opened, newest first. Requires a session, or a key with the role `read` or `manage`. */
      readonly list: (options?: ListAlertsOptions) => List<Alert, AlertList>;
      /** Count alerts. How many alerts are not closed, by state and kind. A tank has at most one of each kind. Requires a session, or a key with the role `read` or `manage`. */
      readonly counts: (options?: RequestOptions) => Promise<AlertCounts>;
      /** Retrieve an alert. One alert, closed or not. Requires a session, or a key with the role `read` or `manage`. */
      readonly retrieve: (id: string, options?: RequestOptions) => Promise<Alert>;
    };
    readonly events: {
      /** Follow events. Alert events and refills after a sequence number, oldest first. Events are kept for 30 days. Request the next page with `next_after`, immediately while `has_more` is true; every event appears once, in order. Requires a session, or a key with the role `read` or `manage`. */
      readonly list: (options?: ListEventsOptions) => List<AlertEvent | RefillEvent, EventList>;
    };
    readonly me: {
      /** Retrieve the caller. Who you are, what you may do, and a customer's mail settings. Requires a session, or a key with the role `read` or `manage`. */
      readonly retrieve: (options?: RequestOptions) => Promise<Me>;
      /** Change your settings. A JSON merge patch of the mail settings, by a customer who is signed in. Ten changes at once, then one in six seconds. Requires a session. */
      readonly update: (body: MeChange, options?: RequestOptions) => Promise<Me>;
    };
  };
  readonly ingest: {
    /** Send readings. One reading, a list of up to 10000, or one per line. Each is validated by itself; the response is sent once the accepted ones are durable. Requires a key with the role `ingest` or `manage`. */
    readonly readings: (body: NewReading | readonly NewReading[], options?: RequestOptions) => Promise<Results>;
    /** Webhook for ChirpStack v4. Accepts the JSON that ChirpStack v4 sends for an uplink. A message without a reading gives no results. Requires a key with the role `ingest` or `manage`. */
    readonly chirpstack: (body: { readonly [name: string]: unknown }, options?: ReceiveChirpstackOptions) => Promise<Results>;
    /** Webhook for The Things Stack v3. Accepts the JSON that The Things Stack v3 sends for an uplink. A message without a reading gives no results. Requires a key with the role `ingest` or `manage`. */
    readonly tts: (body: { readonly [name: string]: unknown }, options?: ReceiveTtsOptions) => Promise<Results>;
  };
  readonly manage: {
    readonly customers: {
      /** Search customers. Customers by creation date, newest first. Deleted ones are listed separately. Requires a session with the role `viewer`, `dispatcher` or `admin`, or a key with the role `manage`. */
      readonly list: (options?: SearchCustomersOptions) => List<ManagedCustomer, ManagedCustomerList>;
      /** Create a customer. Creates a customer, with a new id if none is given. An id that was ever used cannot be used again. Requires a session with the role `dispatcher` or `admin`, or a key with the role `manage`. */
      readonly create: (body: NewCustomer, options?: CreateCustomerOptions) => Promise<ManagedCustomer>;
      /** Inspect a customer. One customer with all its fields, deleted or not. Requires a session with the role `viewer`, `dispatcher` or `admin`, or a key with the role `manage`. */
      readonly retrieve: (id: string, options?: RequestOptions) => Promise<ManagedCustomer>;
      /** Change a customer. A JSON merge patch: fields that are given change, `null` clears an optional field. Requires a session with the role `dispatcher` or `admin`, or a key with the role `manage`. */
      readonly update: (id: string, body: CustomerChange, options?: ChangeCustomerOptions) => Promise<ManagedCustomer>;
      /** Delete a customer. Deletes a customer and disables its keys. Fails while the customer owns tanks, unless `tanks` is true. Requires a session with the role `dispatcher` or `admin`, or a key with the role `manage`. */
      readonly delete: (id: string, options?: DeleteCustomerOptions) => Promise<ManagedCustomer>;
      /** Verify an address. Sends a link to the customer's e-mail address, valid for 7 days. Whoever uses it verifies the address. Earlier links become invalid. At most 5 an hour. Requires a session with the role `dispatcher` or `admin`, or a key with the role `manage`. */
      readonly verification: (id: string, options?: RequestVerificationOptions) => Promise<Notification>;
      /** Restore a customer. Restores a deleted customer, with the tanks that were deleted together with it and their readings. Requires a session with the role `dispatcher` or `admin`, or a key with the role `manage`. */
      readonly restore: (id: string, options?: RestoreCustomerOptions) => Promise<ManagedCustomer>;
      /** Create a link for a customer. A link that signs the customer in, for use without mail. Valid for 10 minutes, for one use. Requires a session with the role `admin`, or a key with the role `manage`. */
      readonly link: (id: string, options?: RequestOptions) => Promise<SignInLink>;
      /** List the sessions of a customer. Where the customer is signed in, newest first. Requires a session with the role `admin`, or a key with the role `manage`. */
      readonly sessions: (id: string, options?: ListCustomerSessionsOptions) => List<Session, SessionList>;
    };
    readonly tanks: {
      /** Search tanks. Tanks by creation date, newest first. Deleted ones are listed separately. Requires a session with the role `viewer`, `dispatcher` or `admin`, or a key with the role `manage`. */
      readonly list: (options?: SearchTanksOptions) => List<ManagedTank, ManagedTankList>;
      /** Create a tank. Creates a tank, with a new id if none is given. Pending readings of its device are stored. Requires a session with the role `dispatcher` or `admin`, or a key with the role `manage`. */
      readonly create: (body: NewTank, options?: CreateTankOptions) => Promise<ChangedTank>;
      /** Inspect a tank. One tank with all its fields, deleted or not. Requires a session with the role `viewer`, `dispatcher` or `admin`, or a key with the role `manage`. */
      readonly retrieve: (id: string, options?: RequestOptions) => Promise<ManagedTank>;
      /** Change a tank. A JSON merge patch: fields that are given change, `null` clears an optional field. Requires a session with the role `dispatcher` or `admin`, or a key with the role `manage`. */
      readonly update: (id: string, body: TankChange, options?: ChangeTankOptions) => Promise<ChangedTank>;
      /** Delete a tank. Deletes a tank and frees its device. Its readings are kept, and are visible again once it is restored. Requires a session with the role `dispatcher` or `admin`, or a key with the role `manage`. */
      readonly delete: (id: string, options?: DeleteTankOptions) => Promise<ManagedTank>;
      /** Restore a tank. Restores a deleted tank with its readings. If its device is assigned to another tank by now, give another device. Requires a session with the role `dispatcher` or `admin`, or a key with the role `manage`. */
      readonly restore: (id: string, body?: TankRestoring, options?: RestoreTankOptions) => Promise<ChangedTank>;
    };
    readonly devices: {
      /** List devices. Devices by id; with `pending=true`, those with pending readings. Requires a session with the role `viewer`, `dispatcher` or `admin`, or a key with the role `manage`. */
      readonly list: (options?: ListDevicesOptions) => List<Device, DeviceList>;
      /** Inspect a device. One device, with the number of its pending readings, the newest of them, and why it is pending. Requires a session with the role `viewer`, `dispatcher` or `admin`, or a key with the role `manage`. */
      readonly retrieve: (id: string, options?: RequestOptions) => Promise<InspectedDevice>;
      /** Register or change a device. Sets the tank that the device is assigned to, the profile of its payloads, and the shape of that tank. Fields that are not given stay. Pending readings that become readable are stored. Requires a session with the role `dispatcher` or `admin`, or a key with the role `manage`. */
      readonly put: (id: string, body: DeviceChange, options?: PutDeviceOptions) => Promise<ChangedDevice>;
      /** Change a device. Sets the tank that the device is assigned to, the profile of its payloads, and the shape of that tank. Fields that are not given stay. Pending readings that become readable are stored. Requires a session with the role `dispatcher` or `admin`, or a key with the role `manage`. */
      readonly update: (id: string, body: DeviceChange, options?: ChangeDeviceOptions) => Promise<ChangedDevice>;
      /** Remove a device. Removes the profile and the pending readings of a device that is assigned to no tank. Its past assignments are kept, so that late readings still find their tank. Requires a session with the role `dispatcher` or `admin`, or a key with the role `manage`. */
      readonly delete: (id: string, options?: RemoveDeviceOptions) => Promise<RemovedDevice>;
    };
    /** Create or change many customers and tanks. Up to 50000 in total, customers before tanks. All are validated before any is written. Up to 1,000 are written in one transaction, more in several: if one fails, send the request again. An id may occur only once. Requires a session with the role `dispatcher` or `admin`, or a key with the role `manage`. */
    readonly provision: (body: {
  /** An existing id changes the object */
  readonly customers?: readonly CustomerRow[];
  /** An existing id changes the object */
  readonly tanks?: readonly TankRow[];
}, options?: ProvisionOptions) => Promise<Provisioning>;
    readonly alerts: {
      /** Change the note of an alert. A JSON merge patch: fields that are given change, `null` clears an optional field. Only an acknowledged alert can get another note. Nobody is notified. Requires a session with the role `dispatcher` or `admin`, or a key with the role `manage`. */
      readonly update: (id: string, body: AlertNoteChange, options?: ChangeAlertOptions) => Promise<Alert>;
      /** Acknowledge an alert. Records that a person is handling the alert. The owner of the tank gets no reminder. An alert that is acknowledged already stays as it is. Requires a session with the role `dispatcher` or `admin`, or a key with the role `manage`. */
      readonly acknowledge: (id: string, body?: AlertNote, options?: AcknowledgeAlertOptions) => Promise<Alert>;
      /** Close an alert. Closes an alert manually. As long as its condition lasts, it is not opened again. An alert that is closed already stays as it is. Requires a session with the role `dispatcher` or `admin`, or a key with the role `manage`. */
      readonly close: (id: string, body?: AlertNote, options?: CloseAlertOptions) => Promise<Alert>;
    };
    readonly channels: {
      /** List channels. All channels, newest first, without their secrets. Requires a session with the role `admin`, or a key with the role `manage`. */
      readonly list: (options?: ListChannelsOptions) => List<Channel, ChannelList>;
      /** Create a channel. Creates a webhook or an e-mail channel. The secret of a webhook is in this response and nowhere else. Requires a session with the role `admin`, or a key with the role `manage`. */
      readonly create: (body: NewWebhookChannel | NewEmailChannel, options?: CreateChannelOptions) => Promise<CreatedChannel>;
      /** Inspect a channel. One channel, without its secret, and the state of its deliveries. Requires a session with the role `admin`, or a key with the role `manage`. */
      readonly retrieve: (id: string, options?: RequestOptions) => Promise<ChannelDetails>;
      /** Change a channel. A JSON merge patch: fields that are given change, `null` clears an optional field. `{"state":"active"}` enables a disabled channel again. The type cannot be changed. Requires a session with the role `admin`, or a key with the role `manage`. */
      readonly update: (id: string, body: WebhookChannelChange | EmailChannelChange, options?: ChangeChannelOptions) => Promise<Channel>;
      /** Delete a channel. Deletes a channel permanently. Its pending notifications are no longer sent. Requires a session with the role `admin`, or a key with the role `manage`. */
      readonly delete: (id: string, options?: DeleteChannelOptions) => Promise<DeletedChannel>;
      /** Test a channel. Creates a notification `channel.test`, which is sent as all others are. Retrieve the notification to see the result. Requires a session with the role `admin`, or a key with the role `manage`. */
      readonly test: (id: string, options?: TestChannelOptions) => Promise<Notification>;
      /** Rotate the secret of a webhook. Creates a new secret. Webhooks are signed with the old one, too, for the overlap. Requires a session with the role `admin`, or a key with the role `manage`. */
      readonly rotate: (id: string, options?: RotateChannelOptions) => Promise<CreatedChannel>;
      /** Send failed and expired notifications again. Sends all notifications of the channel again that have failed or expired since a time, with the same ids. Requires a session with the role `admin`, or a key with the role `manage`. */
      readonly recover: (id: string, body: Recovery, options?: RequestOptions) => Promise<ChannelRecovery>;
    };
    readonly notifications: {
      /** List notifications. What was sent, or will be, newest first. Notifications are removed 30 days after they end. Requires a session with the role `admin`, or a key with the role `manage`. */
      readonly list: (options?: ListNotificationsOptions) => List<Notification, NotificationList>;
      /** Inspect a notification. One notification with the attempts to send it. Requires a session with the role `admin`, or a key with the role `manage`. */
      readonly retrieve: (id: string, options?: RequestOptions) => Promise<Notification>;
      /** Send failed and expired mail to customers again. Sends all mail about alerts to customers again, or to one, that has failed or expired since a time, with the same ids. Customers who have unsubscribed, are not verified or are deleted get none. For mail and webhooks to a channel, recover the channel. Requires a session with the role `admin`, or a key with the role `manage`. */
      readonly recover: (body: MailRecovery, options?: RequestOptions) => Promise<NotificationRecovery>;
      /** Send a notification again. Sends a notification again, with the same id. One that is pending does not wait for its next attempt. Requires a session with the role `admin`, or a key with the role `manage`. */
      readonly retry: (id: string, options?: RequestOptions) => Promise<Notification>;
    };
    readonly keys: {
      /** List keys. All keys, newest first, without their secrets. Requires a session with the role `admin`, or a key with the role `manage`. */
      readonly list: (options?: ListKeysOptions) => List<Key, KeyList>;
      /** Create a key. Creates a key. Its secret is in this response and nowhere else. Requires a session with the role `admin`, or a key with the role `manage`. */
      readonly create: (body: NewKey, options?: CreateKeyOptions) => Promise<CreatedKey>;
      /** Inspect a key. One key, without its secret. Requires a session with the role `admin`, or a key with the role `manage`. */
      readonly retrieve: (id: string, options?: RequestOptions) => Promise<Key>;
      /** Change a key. A JSON merge patch of its name, rate limit or expiry. To change its role, customer or device, create another key. Requires a session with the role `admin`, or a key with the role `manage`. */
      readonly update: (id: string, body: KeyChange, options?: ChangeKeyOptions) => Promise<Key>;
      /** Revoke a key. Revokes a key permanently. It stops working within a second. Requires a session with the role `admin`, or a key with the role `manage`. */
      readonly delete: (id: string, options?: RevokeKeyOptions) => Promise<Key>;
      /** Rotate a key. Creates a replacement with the same permissions and lifetime. The old key continues to work for the overlap. Requires a session with the role `admin`, or a key with the role `manage`. */
      readonly rotate: (id: string, options?: RotateKeyOptions) => Promise<CreatedKey>;
    };
    readonly users: {
      /** List users. The operator's staff who can sign in, newest first. Requires a session with the role `admin`, or a key with the role `manage`. */
      readonly list: (options?: ListUsersOptions) => List<User, UserList>;
      /** Create a user. A member of the operator's staff, who signs in with an e-mail address. Addresses are unique. Requires a session with the role `admin`, or a key with the role `manage`. */
      readonly create: (body: NewUser, options?: CreateUserOptions) => Promise<User>;
      /** Inspect a user. One user. Requires a session with the role `admin`, or a key with the role `manage`. */
      readonly retrieve: (id: string, options?: RequestOptions) => Promise<User>;
      /** Change a user. A JSON merge patch: fields that are given change, `null` clears an optional field. Changing the role or address ends the user's sessions. The last admin keeps the role. Requires a session with the role `admin`, or a key with the role `manage`. */
      readonly update: (id: string, body: UserChange, options?: ChangeUserOptions) => Promise<User>;
      /** Remove a user. Ends the user's sessions within a second. The last admin cannot be removed. Requires a session with the role `admin`, or a key with the role `manage`. */
      readonly delete: (id: string, options?: RemoveUserOptions) => Promise<RemovedUser>;
      /** Create a link for a user. A link that signs the user in, for use without mail. Valid for 10 minutes, for one use. Requires a session with the role `admin`, or a key with the role `manage`. */
      readonly link: (id: string, options?: RequestOptions) => Promise<SignInLink>;
      /** List the sessions of a user. Where the user is signed in, newest first. Requires a session with the role `admin`, or a key with the role `manage`. */
      readonly sessions: (id: string, options?: ListUserSessionsOptions) => List<Session, SessionList>;
    };
    readonly sessions: {
      /** Revoke a session. Ends a session of a user or customer within a second. Requires a session with the role `admin`, or a key with the role `manage`. */
      readonly delete: (id: string, options?: RequestOptions) => Promise<EndedSession>;
    };
    readonly audit: {
      /** List the audit log. Who changed what, newest first. Requires a session with the role `admin`, or a key with the role `manage`. */
      readonly list: (options?: ListAuditOptions) => List<AuditEntry, AuditList>;
    };
  };
  readonly auth: {
    readonly signIn: {
      /** Request a link and a code. Sends mail with a link and a code to the address, if a user or customer has it. The response does not depend on that. At most 30 mails an hour to one address, 5 of them for one client address, and 20 requests an hour from one client address. No key is required. */
      readonly create: (body: SignInRequest, options?: RequestOptions) => Promise<SignInRequested>;
      /** Inspect a link. Which accounts a link opens. The link can still be used. No key is required. */
      readonly inspect: (body: SignInToken, options?: RequestOptions) => Promise<SignInDetails>;
    };
    readonly session: {
      /** Sign in. With the token of a link, or with the address and the code in the browser that requested it. Sets the cookie of a new session. Where several accounts have the address and none is chosen, the response lists them, and the link or code can still be used. No key is required. */
      readonly create: (body: SignInProof, options?: RequestOptions) => Promise<Session | AccountChoice>;
      /** Retrieve the session. Who is signed in. Requires a session. */
      readonly retrieve: (options?: RequestOptions) => Promise<Session>;
      /** Sign out. Ends the session. Requires a session. */
      readonly delete: (options?: RequestOptions) => Promise<EndedSession>;
    };
    readonly sessions: {
      /** List your sessions. Where you are signed in, newest first. Requires a session. */
      readonly list: (options?: ListSessionsOptions) => List<Session, SessionList>;
      /** End one of your sessions. Signs out another browser, or this one. Requires a session. */
      readonly delete: (id: string, options?: RequestOptions) => Promise<EndedSession>;
    };
  };
};

export const OPERATIONS: readonly Operation[] = [
  { name: "customers.list", method: "GET", path: "/v1/customers", isIdempotent: true, list: "created_at" },
  { name: "customers.retrieve", method: "GET", path: "/v1/customers/{id}", isIdempotent: true },
  { name: "tanks.list", method: "GET", path: "/v1/tanks", isIdempotent: true, list: "created_at" },
  { name: "tanks.retrieve", method: "GET", path: "/v1/tanks/{id}", isIdempotent: true },
  { name: "tanks.telemetry", method: "GET", path: "/v1/tanks/{id}/telemetry", isIdempotent: true, list: "created_at" },
  { name: "insight.fleet.list", method: "GET", path: "/insight/v1/fleet", isIdempotent: true, list: "page" },
  { name: "insight.tanks.retrieve", method: "GET", path: "/insight/v1/tanks/{id}", isIdempotent: true },
  { name: "insight.map", method: "GET", path: "/insight/v1/map", isIdempotent: true },
  { name: "insight.tanks.forecast", method: "GET", path: "/insight/v1/tanks/{id}/forecast", isIdempotent: true },
  { name: "insight.tanks.refills", method: "GET", path: "/insight/v1/tanks/{id}/refills", isIdempotent: true, list: "page" },
  { name: "insight.tanks.series", method: "GET", path: "/insight/v1/tanks/{id}/series", isIdempotent: true },
  { name: "insight.series", method: "POST", path: "/insight/v1/series", hasBody: true, isIdempotent: true },
  { name: "insight.alerts.list", method: "GET", path: "/insight/v1/alerts", isIdempotent: true, list: "opened_at" },
  { name: "insight.alerts.counts", method: "GET", path: "/insight/v1/alerts/counts", isIdempotent: true },
  { name: "insight.alerts.retrieve", method: "GET", path: "/insight/v1/alerts/{id}", isIdempotent: true, isVersioned: true },
  { name: "insight.events.list", method: "GET", path: "/insight/v1/events", isIdempotent: true, list: "after" },
  { name: "insight.me.retrieve", method: "GET", path: "/insight/v1/me", isIdempotent: true },
  { name: "insight.me.update", method: "PATCH", path: "/insight/v1/me", hasBody: true },
  { name: "ingest.readings", method: "POST", path: "/ingest/v1/readings", hasBody: true, isIdempotent: true, timeField: "created_at" },
  { name: "ingest.chirpstack", method: "POST", path: "/ingest/v1/chirpstack", hasBody: true, isIdempotent: true, timeField: "time" },
  { name: "ingest.tts", method: "POST", path: "/ingest/v1/tts", hasBody: true, isIdempotent: true, timeField: "received_at" },
  { name: "manage.customers.list", method: "GET", path: "/manage/v1/customers", isIdempotent: true, list: "created_at" },
  { name: "manage.customers.create", method: "POST", path: "/manage/v1/customers", hasBody: true, acceptsIdempotencyKey: true, isVersioned: true },
  { name: "manage.customers.retrieve", method: "GET", path: "/manage/v1/customers/{id}", isIdempotent: true, isVersioned: true },
  { name: "manage.customers.update", method: "PATCH", path: "/manage/v1/customers/{id}", hasBody: true, isVersioned: true },
  { name: "manage.customers.delete", method: "DELETE", path: "/manage/v1/customers/{id}", isIdempotent: true, isVersioned: true },
  { name: "manage.customers.verification", method: "POST", path: "/manage/v1/customers/{id}/verification", acceptsIdempotencyKey: true },
  { name: "manage.customers.restore", method: "POST", path: "/manage/v1/customers/{id}/restore", isVersioned: true },
  { name: "manage.tanks.list", method: "GET", path: "/manage/v1/tanks", isIdempotent: true, list: "created_at" },
  { name: "manage.tanks.create", method: "POST", path: "/manage/v1/tanks", hasBody: true, acceptsIdempotencyKey: true, isVersioned: true },
  { name: "manage.tanks.retrieve", method: "GET", path: "/manage/v1/tanks/{id}", isIdempotent: true, isVersioned: true },
  { name: "manage.tanks.update", method: "PATCH", path: "/manage/v1/tanks/{id}", hasBody: true, isVersioned: true },
  { name: "manage.tanks.delete", method: "DELETE", path: "/manage/v1/tanks/{id}", isIdempotent: true, isVersioned: true },
  { name: "manage.tanks.restore", method: "POST", path: "/manage/v1/tanks/{id}/restore", hasBody: true, isVersioned: true },
  { name: "manage.devices.list", method: "GET", path: "/manage/v1/devices", isIdempotent: true, list: "page" },
  { name: "manage.devices.retrieve", method: "GET", path: "/manage/v1/devices/{id}", isIdempotent: true, isVersioned: true },
  { name: "manage.devices.put", method: "PUT", path: "/manage/v1/devices/{id}", hasBody: true, isIdempotent: true, isVersioned: true },
  { name: "manage.devices.update", method: "PATCH", path: "/manage/v1/devices/{id}", hasBody: true, isVersioned: true },
  { name: "manage.devices.delete", method: "DELETE", path: "/manage/v1/devices/{id}", isIdempotent: true },
  { name: "manage.provision", method: "POST", path: "/manage/v1/provision", hasBody: true, acceptsIdempotencyKey: true },
  { name: "manage.alerts.update", method: "PATCH", path: "/manage/v1/alerts/{id}", hasBody: true, isVersioned: true },
  { name: "manage.alerts.acknowledge", method: "POST", path: "/manage/v1/alerts/{id}/acknowledge", hasBody: true, acceptsIdempotencyKey: true, isVersioned: true },
  { name: "manage.alerts.close", method: "POST", path: "/manage/v1/alerts/{id}/close", hasBody: true, acceptsIdempotencyKey: true, isVersioned: true },
  { name: "manage.channels.list", method: "GET", path: "/manage/v1/channels", isIdempotent: true, list: "page" },
  { name: "manage.channels.create", method: "POST", path: "/manage/v1/channels", hasBody: true, acceptsIdempotencyKey: true, isVersioned: true },
  { name: "manage.channels.retrieve", method: "GET", path: "/manage/v1/channels/{id}", isIdempotent: true, isVersioned: true },
  { name: "manage.channels.update", method: "PATCH", path: "/manage/v1/channels/{id}", hasBody: true, isVersioned: true },
  { name: "manage.channels.delete", method: "DELETE", path: "/manage/v1/channels/{id}", isIdempotent: true },
  { name: "manage.channels.test", method: "POST", path: "/manage/v1/channels/{id}/test", acceptsIdempotencyKey: true },
  { name: "manage.channels.rotate", method: "POST", path: "/manage/v1/channels/{id}/rotate", isVersioned: true },
  { name: "manage.channels.recover", method: "POST", path: "/manage/v1/channels/{id}/recover", hasBody: true },
  { name: "manage.notifications.list", method: "GET", path: "/manage/v1/notifications", isIdempotent: true, list: "created_at" },
  { name: "manage.notifications.retrieve", method: "GET", path: "/manage/v1/notifications/{id}", isIdempotent: true },
  { name: "manage.notifications.recover", method: "POST", path: "/manage/v1/notifications/recover", hasBody: true },
  { name: "manage.notifications.retry", method: "POST", path: "/manage/v1/notifications/{id}/retry" },
  { name: "manage.keys.list", method: "GET", path: "/manage/v1/keys", isIdempotent: true, list: "page" },
  { name: "manage.keys.create", method: "POST", path: "/manage/v1/keys", hasBody: true, acceptsIdempotencyKey: true, isVersioned: true },
  { name: "manage.keys.retrieve", method: "GET", path: "/manage/v1/keys/{id}", isIdempotent: true, isVersioned: true },
  { name: "manage.keys.update", method: "PATCH", path: "/manage/v1/keys/{id}", hasBody: true, isVersioned: true },
  { name: "manage.keys.delete", method: "DELETE", path: "/manage/v1/keys/{id}", isIdempotent: true, isVersioned: true },
  { name: "manage.keys.rotate", method: "POST", path: "/manage/v1/keys/{id}/rotate", isVersioned: true },
  { name: "manage.users.list", method: "GET", path: "/manage/v1/users", isIdempotent: true, list: "page" },
  { name: "manage.users.create", method: "POST", path: "/manage/v1/users", hasBody: true, acceptsIdempotencyKey: true, isVersioned: true },
  { name: "manage.users.retrieve", method: "GET", path: "/manage/v1/users/{id}", isIdempotent: true, isVersioned: true },
  { name: "manage.users.update", method: "PATCH", path: "/manage/v1/users/{id}", hasBody: true, isVersioned: true },
  { name: "manage.users.delete", method: "DELETE", path: "/manage/v1/users/{id}", isIdempotent: true, isVersioned: true },
  { name: "manage.users.link", method: "POST", path: "/manage/v1/users/{id}/link" },
  { name: "manage.customers.link", method: "POST", path: "/manage/v1/customers/{id}/link" },
  { name: "manage.users.sessions", method: "GET", path: "/manage/v1/users/{id}/sessions", isIdempotent: true, list: "page" },
  { name: "manage.customers.sessions", method: "GET", path: "/manage/v1/customers/{id}/sessions", isIdempotent: true, list: "page" },
  { name: "manage.sessions.delete", method: "DELETE", path: "/manage/v1/sessions/{id}", isIdempotent: true },
  { name: "manage.audit.list", method: "GET", path: "/manage/v1/audit", isIdempotent: true, list: "created_at" },
  { name: "auth.signIn.create", method: "POST", path: "/auth/v1/sign-in", hasBody: true },
  { name: "auth.signIn.inspect", method: "POST", path: "/auth/v1/sign-in/inspect", hasBody: true },
  { name: "auth.session.create", method: "POST", path: "/auth/v1/session", hasBody: true },
  { name: "auth.session.retrieve", method: "GET", path: "/auth/v1/session", isIdempotent: true },
  { name: "auth.session.delete", method: "DELETE", path: "/auth/v1/session", isIdempotent: true },
  { name: "auth.sessions.list", method: "GET", path: "/auth/v1/sessions", isIdempotent: true, list: "page" },
  { name: "auth.sessions.delete", method: "DELETE", path: "/auth/v1/sessions/{id}", isIdempotent: true },
];
