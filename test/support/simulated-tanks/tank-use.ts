// How much a simulated tank uses, hour by hour, by what it is used for.

import type { Random } from "../../../src/simulate/random.ts";
import type { Weather } from "./weather.ts";

export type Use = "heating" | "heating_and_water" | "commercial" | "process" | "idle" | "generator" | "site" | "dosing";

/** Points of fill in each hour. `weekday` is that of the first day, 0 for Monday. */
export function hourlyUse(use: Use, weather: Weather, weekday: number, random: Random): Float64Array {
  const days = weather.means.length;
  const hours = new Float64Array(days * 24);
  const daily = dailyUse(use, weather, weekday, random);
  const peaks = use === "heating" || use === "heating_and_water" ? 2 : use === "dosing" || use === "idle" ? 0 : 1;
  const swing = peaks === 0 ? 0 : random.between(0.2, 0.7);
  const peakHour = random.between(5, 9);
  for (let hour = 0; hour < hours.length; hour++) {
    const profile = 1 + swing * Math.cos((2 * Math.PI * Math.max(1, peaks) * ((hour % 24) - peakHour)) / 24);
    hours[hour] = ((daily[Math.floor(hour / 24)] ?? 0) / 24) * profile;
  }
  return hours;
}

function dailyUse(use: Use, weather: Weather, weekday: number, random: Random): Float64Array {
  switch (use) {
    case "heating":
      return heating(weather, { water: 0, weekend: 1 }, weekday, random);
    case "heating_and_water":
      return heating(weather, { water: random.between(0.06, 0.35), weekend: 1 }, weekday, random);
    case "commercial":
      return heating(weather, { water: random.between(0, 0.4), weekend: random.between(0.3, 0.8) }, weekday, random);
    case "process":
      return process(weather.means.length, weekday, random);
    case "idle":
      return new Float64Array(weather.means.length).fill(random.between(0, 0.02));
    case "generator":
      return generator(weather.means.length, random);
    case "site":
      return wandering(weather.means.length, random.between(10, 18), 0.2, random);
    case "dosing":
      return wandering(weather.means.length, random.between(0.3, 1.6), 0.1, random);
  }
}

/** Proportional to how much colder it is than what the building needs no heating for; `water` is a share of a cold day. */
function heating(weather: Weather, habits: { water: number; weekend: number }, weekday: number, random: Random): Float64Array {
  const days = weather.means.length;
  const use = new Float64Array(days);
  const limit = random.between(13, 18);
  // From a third of a tank a year to two tanks.
  const coldDayUse = 0.25 * 6.4 ** random.next();
  const perDegree = coldDayUse / 18;
  let indoor = weather.means[0] ?? 0;
  let [away, habit] = [0, 0];
  for (let day = 0; day < days; day++) {
    // Walls keep some of the temperature of the days before.
    indoor = 0.6 * (weather.means[day] ?? 0) + 0.4 * indoor;
    if (away > 0) away--;
    else if (random.chance(0.006)) away = random.whole(3, 14);
    habit = 0.95 * habit + random.normal(0, 0.02);
    const isWeekend = (weekday + day) % 7 >= 5;
    const presence = (away > 0 ? 0.5 : 1) * (isWeekend ? habits.weekend : 1);
    const warmth = perDegree * Math.max(0, limit - indoor);
    const water = away > 0 ? 0 : coldDayUse * habits.water * random.between(0.6, 1.4);
    use[day] = Math.max(0, (warmth * presence * (1 + habit) + water * (isWeekend ? habits.weekend : 1)) * random.normal(1, 0.08));
  }
  return use;
}

function process(days: number, weekday: number, random: Random): Float64Array {
  const use = wandering(days, 0.2 * 20 ** random.next(), 0.12, random);
  const weekend = random.pick([0, 0.2, 1]);
  let shut = 0;
  for (let day = 0; day < days; day++) {
    if (shut > 0) shut--;
    else if (random.chance(0.003)) shut = random.whole(5, 14);
    use[day] = (use[day] ?? 0) * (shut > 0 ? 0 : 1) * ((weekday + day) % 7 >= 5 ? weekend : 1);
  }
  return use;
}

/** A test run every other week, and outages that last from hours to days. */
function generator(days: number, random: Random): Float64Array {
  const use = new Float64Array(days);
  const [test, load] = [random.between(0.3, 1.5), random.between(8, 20)];
  let outage = 0;
  for (let day = 0; day < days; day++) {
    if (outage > 0) outage--;
    else if (random.chance(0.02)) outage = random.whole(1, 3);
    use[day] = (day % 14 === 3 ? test : 0) + (outage > 0 ? load * random.between(0.3, 1) : 0);
  }
  return use;
}

/** Around a mean that changes slowly, with noise from day to day. */
function wandering(days: number, mean: number, noise: number, random: Random): Float64Array {
  const use = new Float64Array(days);
  let drift = 0;
  for (let day = 0; day < days; day++) {
    drift = 0.985 * drift + random.normal(0, 0.03);
    use[day] = mean * Math.max(0, 1 + drift + random.normal(0, noise));
  }
  return use;
}
