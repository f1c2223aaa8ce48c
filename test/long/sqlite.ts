import { sqliteEngine } from "../store/sqlite-engine.ts";
import { longDeliveries } from "./deliveries.ts";
import { longHistories } from "./histories.ts";

longHistories(sqliteEngine);
longDeliveries(sqliteEngine);
