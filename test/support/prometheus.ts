// The text format of Prometheus: its samples, and the rules of `promtool check metrics`.

export type Sample = { readonly name: string; readonly labels: Readonly<Record<string, string>>; readonly value: number };

type Family = { readonly name: string; readonly type: string; readonly help: string; readonly samples: readonly Sample[] };

const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

function sampleOf(line: string): Sample {
  const [, name = "", labels = "", value = ""] = /^([^\s{]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  const pairs = Array.from(labels.matchAll(LABEL), ([, label = "", text = ""]) => [label, text]);
  return { name, labels: Object.fromEntries(pairs), value: Number(value.replace("Inf", "Infinity")) };
}

/** A family begins with its HELP and TYPE. */
function familiesIn(text: string): Family[] {
  return text
    .split(/^(?=# HELP )/m)
    .filter((part) => part.trim() !== "")
    .map((part) => {
      const [head = "", typeLine = "", ...lines] = part.trimEnd().split("\n");
      const [, name = "", help = ""] = /^# HELP (\S+) ?(.*)$/.exec(head) ?? [];
      const [, typed = "", type = ""] = /^# TYPE (\S+) (\w+)$/.exec(typeLine) ?? [];
      return { name, help, type: typed === name ? type : "", samples: lines.map(sampleOf) };
    });
}

export const samplesIn = (text: string): Sample[] => familiesIn(text).flatMap(({ samples }) => samples);

const OTHER_UNITS =
  /_(milliseconds?|microseconds?|nanoseconds?|ms|us|ns|minutes?|hours?|days?|weeks?|(kilo|mega|giga|kibi|mebi|gibi)bytes?|kb|mb|gb|bits?|percent(age)?s?|celsius_degrees|fahrenheit|kelvin|grams?)(_|$)/;
const TYPES = ["counter", "gauge", "histogram", "summary"];
const RESERVED_ENDINGS = /_(total|count|sum|bucket)$/;

/** What `promtool check metrics` would report, by the rules that it documents and checks. */
export function metricErrors(text: string): string[] {
  const families = familiesIn(text);
  const names = families.map(({ name }) => name);
  const repeated = names.filter((name, i) => names.indexOf(name) !== i).map((name) => `${name}: occurs twice`);
  return [...repeated, ...families.flatMap((family) => errorsIn(family).map((error) => `${family.name}: ${error}`))];
}

function errorsIn({ name, type, help, samples }: Family): string[] {
  const isHistogram = type === "histogram";
  const rules: readonly (readonly [isBroken: boolean, error: string])[] = [
    [!TYPES.includes(type), "no type"],
    [help === "", "no help text"],
    [!/^[a-z][a-z0-9_]*$/.test(name), "not in snake_case, or with a colon"],
    [(type === "counter") !== name.endsWith("_total"), 'counters, and only these, end in "_total"'],
    [type !== "counter" && RESERVED_ENDINGS.test(name), "a reserved ending"],
    [OTHER_UNITS.test(name), "not in a base unit"],
    [TYPES.some((word) => name.split("_").includes(word)), "the type is part of the name"],
    [
      samples.some(({ labels }) => Object.keys(labels).some((label) => !/^[a-z][a-z0-9_]*$/.test(label))),
      "a label not in snake_case",
    ],
    [samples.some(({ value }) => Number.isNaN(value)), "a value that is not a number"],
    [!isHistogram && samples.some(({ labels }) => "le" in labels), 'a label "le"'],
    [type !== "summary" && samples.some(({ labels }) => "quantile" in labels), 'a label "quantile"'],
    [samples.some((sample) => !belongs(sample, name, isHistogram)), "samples of another name"],
  ];
  return rules.filter(([isBroken]) => isBroken).map(([, error]) => error);
}

function belongs({ name, labels }: Sample, family: string, isHistogram: boolean): boolean {
  if (!isHistogram) return name === family;
  return name === `${family}_bucket` ? "le" in labels : [`${family}_sum`, `${family}_count`].includes(name);
}
