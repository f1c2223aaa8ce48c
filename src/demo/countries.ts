// What people, firms and streets are called in the countries of the demo fleet, and how tanks are measured there.

import type { CapacityUnit } from "../domain/tank.ts";
import { ENGLISH, FRENCH, GERMAN, ITALIAN, type Language, list, SPANISH } from "./languages.ts";

export type Country = {
  readonly language: Language;
  readonly unit: CapacityUnit;
  readonly families: readonly string[];
  readonly streets: readonly string[];
  readonly numberFirst: boolean;
  /** Names of firms: {family} and {city} are filled in. */
  readonly businesses: readonly string[];
  readonly works: readonly string[];
  readonly housing: readonly string[];
};

const englishFamilies = list(
  "Anderson, Bennett, Carter, Dawson, Ellis, Foster, Graham, Harper, Johnson, Mitchell, Nelson, Parker, Sullivan, Turner, Walker, Young",
);
const americanStreets = list(
  "Maple Street, Oak Avenue, Main Street, Cedar Lane, Lakeview Drive, Mill Road, Pine Ridge Road, Elm Street",
);

const COUNTRIES: Readonly<Record<string, Country>> = {
  Germany: {
    language: GERMAN,
    unit: "liters",
    families: list(
      "Müller, Schmidt, Fischer, Weber, Wagner, Becker, Hoffmann, Schäfer, Koch, Richter, Klein, Wolf, Schröder, Neumann, Krüger, Vogt",
    ),
    streets: list("Lindenweg, Bahnhofstraße, Gartenstraße, Schulstraße, Am Mühlbach, Kirchgasse, Birkenweg, Industriestraße"),
    numberFirst: false,
    businesses: list(
      "Bäckerei {family}, Gasthof {family}, Gärtnerei {family}, Hotel {family}, Autohaus {family} GmbH, Campingpark {city}",
    ),
    works: list("{family} Maschinenbau GmbH, Ziegelwerk {city} GmbH, Gießerei {family} & Söhne KG, Molkerei {city} eG"),
    housing: list("Hausverwaltung {family} GmbH, Wohnbau {city} eG, Ferienhäuser {family} GbR"),
  },
  Austria: {
    language: GERMAN,
    unit: "liters",
    families: list("Gruber, Huber, Bauer, Pichler, Steiner, Moser, Mayer, Hofer, Leitner, Berger, Fuchs, Eder, Schwarz, Egger"),
    streets: list("Dorfstraße, Kirchenweg, Sonnleiten, Feldgasse, Bergstraße, Hauptplatz, Angerweg, Mühlgasse"),
    numberFirst: false,
    businesses: list("Gasthof {family}, Pension {family}, Konditorei {family}, Alpenhotel {family} GmbH, Tischlerei {family}"),
    works: list("{family} Metalltechnik GmbH, Sägewerk {family} KG, Brauerei {city} GmbH"),
    housing: list("{family} Immobilien GmbH, Wohnheim {city} gGmbH, Almhütten {family} OG"),
  },
  Switzerland: {
    language: GERMAN,
    unit: "liters",
    families: list("Meier, Keller, Brunner, Baumann, Frei, Zimmermann, Gerber, Caduff, Lüthi, Wyss, Zürcher, Aebi"),
    streets: list("Seestrasse, Bahnhofstrasse, Dorfstrasse, Obere Gasse, Schulhausweg, Rheinstrasse, Allmendweg"),
    numberFirst: false,
    businesses: list("Restaurant {family}, Garage {family} AG, Bäckerei {family}, Berghaus {family}, Käserei {family}"),
    works: list("{family} Präzisionstechnik AG, Kieswerk {city} AG, Holzbau {family} AG"),
    housing: list("Immobilien {family} AG, Wohngenossenschaft {city}"),
  },
  France: {
    language: FRENCH,
    unit: "liters",
    families: list(
      "Martin, Bernard, Durand, Lefèvre, Moreau, Girard, Rousseau, Fournier, Mercier, Blanc, Guérin, Le Goff, Chevalier",
    ),
    streets: list("Rue de la Gare, Rue des Tilleuls, Avenue de la République, Chemin des Prés, Rue du Moulin, Impasse des Lilas"),
    numberFirst: true,
    businesses: list("Boulangerie {family}, Auberge {family}, Hôtel {family}, Camping de {city}, Garage {family} SARL"),
    works: list("Fonderie {family} SAS, Laiterie de {city} SA, Ateliers {family} SAS"),
    housing: list("Gîtes {family}, Immobilière {family} SARL, Habitat de {city} SCI"),
  },
  Italy: {
    language: ITALIAN,
    unit: "liters",
    families: list("Rossi, Bianchi, Ferrari, Esposito, Romano, Conti, Gallo, Costa, Fontana, Moretti, Barbieri, Rinaldi"),
    streets: list("Via Roma, Via Garibaldi, Via dei Tigli, Via della Stazione, Strada Vecchia, Via Mazzini, Viale Europa"),
    numberFirst: false,
    businesses: list("Panificio {family}, Trattoria {family}, Agriturismo {family}, Albergo {family}, Vivai {family} s.s."),
    works: list("Officine {family} S.r.l., Caseificio {family} S.p.A., Fornace {family} S.r.l."),
    housing: list("Immobiliare {family} S.r.l., Residenze di {city} S.r.l."),
  },
  Spain: {
    language: SPANISH,
    unit: "liters",
    families: list("García, Fernández, López, Martínez, Sánchez, Romero, Navarro, Ortega, Delgado, Molina, Iglesias, Campos"),
    streets: list("Calle Mayor, Calle del Sol, Avenida de la Paz, Camino del Molino, Calle de la Fuente, Plaza de España"),
    numberFirst: false,
    businesses: list("Panadería {family}, Hostal {family}, Casa Rural {family}, Restaurante {family}, Viveros {family} S.L."),
    works: list("Talleres {family} S.L., Cerámicas {family} S.A., Cárnicas de {city} S.A."),
    housing: list("Inmobiliaria {family} S.L., Residencial {city} S.L."),
  },
  "United Kingdom": {
    language: ENGLISH,
    unit: "liters",
    families: list(
      "Campbell, Davies, Evans, Fraser, Hughes, MacDonald, Morgan, Robson, Stewart, Taylor, Thompson, Wood, Wright, Price",
    ),
    streets: list("Church Lane, Station Road, High Street, Mill Lane, The Green, Victoria Road, School Lane, Castle Street"),
    numberFirst: true,
    businesses: list(
      "{family} & Sons Bakery, The {family} Arms, {family} Garden Centre Ltd, {family} Guest House, {city} Caravan Park Ltd",
    ),
    works: list("{family} Engineering Ltd, {city} Distillery Ltd, {family} Castings Ltd"),
    housing: list("{family} Lettings Ltd, {city} Holiday Cottages Ltd"),
  },
  "United States": {
    language: ENGLISH,
    unit: "gallons",
    families: englishFamilies,
    streets: americanStreets,
    numberFirst: true,
    businesses: list(
      "{family}'s Diner, {family} Family Farm LLC, {family} Auto Repair, {city} Lodge LLC, {family} Greenhouses Inc.",
    ),
    works: list("{family} Manufacturing Inc., {city} Asphalt Co., {family} Grain Dryers LLC"),
    housing: list("{family} Property Management LLC, {city} Mobile Home Park LLC"),
  },
  Canada: {
    language: ENGLISH,
    unit: "liters",
    families: [...englishFamilies, "MacLeod", "Tremblay", "Leblanc", "Singh"],
    streets: [...americanStreets, "Queen Street", "River Road"],
    numberFirst: true,
    businesses: list("{family} Farms Ltd., {family} Outfitters, {family} Bakery, {city} Motor Inn Ltd."),
    works: list("{family} Forest Products Ltd., {city} Aggregates Inc., {family} Welding Ltd."),
    housing: list("{family} Rentals Inc., {city} Cottage Resort Ltd."),
  },
};

export function countryOf(name: string): Country {
  const country = COUNTRIES[name];
  if (country === undefined) throw new Error(`no country ${name} in the demo`);
  return country;
}
