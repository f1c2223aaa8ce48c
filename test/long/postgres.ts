import { postgresEngine } from "../store/postgres-engine.ts";
import { longDeliveries } from "./deliveries.ts";
import { longHistories } from "./histories.ts";

longHistories(postgresEngine("postgres", "en-US"));
longDeliveries(postgresEngine("postgres", "en-US"));
