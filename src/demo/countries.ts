// Data of the demo fleet by country: names of people, companies and streets, units, and towns. The towns are real; the people
// are not.

import type { CapacityUnit, Location, UseCase } from "../domain/tank.ts";

export type Country = {
  readonly unit: CapacityUnit;
  readonly firstNames: readonly string[];
  readonly families: readonly string[];
  readonly mailboxes: readonly string[];
  readonly tankNames: Readonly<Record<UseCase, readonly string[]>>;
  readonly streets: readonly string[];
  /** In addresses, the house number comes before the street. */
  readonly numberFirst: boolean;
  /** Company names, with placeholders {family} and {city}. */
  readonly businesses: readonly string[];
  readonly factories: readonly string[];
  readonly housing: readonly string[];
};

/** Long lists of words are written on one line. */
const list = (words: string): readonly string[] => words.split(", ");

const ENGLISH = {
  firstNames: list("Emma, James, Olivia, William, Grace, Thomas, Hannah, Daniel, Rachel, Andrew, Megan, Robert, Laura, Scott"),
  mailboxes: list("office, info, accounts, hello"),
  tankNames: {
    residential: list("House, Back yard, Heating, Garage, Driveway"),
    commercial: list("Kitchen, Main tank, Greenhouse, Workshop, Guest house"),
    industrial: list("Hall 1, Hall 2, Boiler house, Kiln, Dryer, North side"),
  },
  numberFirst: true,
};

const COUNTRIES: Readonly<Record<string, Country>> = {
  Germany: {
    unit: "liters",
    firstNames: list(
      "Anna, Lukas, Katharina, Jonas, Martina, Stefan, Julia, Thomas, Eva, Florian, Sabine, Matthias, Claudia, Peter",
    ),
    families: list(
      "Müller, Schmidt, Fischer, Weber, Wagner, Becker, Hoffmann, Schäfer, Koch, Richter, Klein, Wolf, Schröder, Krüger",
    ),
    mailboxes: list("office, info, kontakt, verwaltung"),
    tankNames: {
      residential: list("Heizung, Gartentank, Haus, Einfahrt, Hinterhof"),
      commercial: list("Küche, Backstube, Haupttank, Gewächshaus, Gästehaus"),
      industrial: list("Halle 1, Halle 2, Ofenlinie, Kesselhaus, Trocknung, Nordseite"),
    },
    streets: list("Lindenweg, Bahnhofstraße, Gartenstraße, Schulstraße, Am Mühlbach, Kirchgasse, Birkenweg, Industriestraße"),
    numberFirst: false,
    businesses: list("Bäckerei {family}, Gasthof {family}, Gärtnerei {family}, Autohaus {family} GmbH, Campingpark {city}"),
    factories: list("{family} Maschinenbau GmbH, Ziegelwerk {city} GmbH, Gießerei {family} & Söhne KG, Molkerei {city} eG"),
    housing: list("Hausverwaltung {family} GmbH, Wohnbau {city} eG, Ferienhäuser {family} GbR"),
  },
  France: {
    unit: "liters",
    firstNames: list("Camille, Hugo, Élodie, Julien, Sophie, Antoine, Claire, Mathieu, Nathalie, Pierre, Aurélie, Luc"),
    families: list("Martin, Bernard, Durand, Lefèvre, Moreau, Girard, Rousseau, Fournier, Mercier, Blanc, Guérin, Le Goff"),
    mailboxes: list("contact, info, bureau"),
    tankNames: {
      residential: list("Maison, Jardin, Chauffage, Garage"),
      commercial: list("Cuisine, Fournil, Cuve principale, Serre"),
      industrial: list("Atelier 1, Atelier 2, Chaufferie, Four, Séchoir"),
    },
    streets: list("Rue de la Gare, Rue des Tilleuls, Avenue de la République, Chemin des Prés, Rue du Moulin, Impasse des Lilas"),
    numberFirst: true,
    businesses: list("Boulangerie {family}, Auberge {family}, Hôtel {family}, Camping de {city}, Garage {family} SARL"),
    factories: list("Fonderie {family} SAS, Laiterie de {city} SA, Ateliers {family} SAS"),
    housing: list("Gîtes {family}, Immobilière {family} SARL, Habitat de {city} SCI"),
  },
  "United Kingdom": {
    ...ENGLISH,
    unit: "liters",
    families: list("Campbell, Davies, Evans, Fraser, Hughes, MacDonald, Morgan, Robson, Stewart, Taylor, Thompson, Wood, Wright"),
    streets: list("Church Lane, Station Road, High Street, Mill Lane, The Green, Victoria Road, School Lane, Castle Street"),
    businesses: list("{family} & Sons Bakery, The {family} Arms, {family} Garden Centre Ltd, {city} Caravan Park Ltd"),
    factories: list("{family} Engineering Ltd, {city} Distillery Ltd, {family} Castings Ltd"),
    housing: list("{family} Lettings Ltd, {city} Holiday Cottages Ltd"),
  },
  "United States": {
    ...ENGLISH,
    unit: "gallons",
    families: list(
      "Anderson, Bennett, Carter, Dawson, Ellis, Foster, Graham, Harper, Johnson, Mitchell, Nelson, Parker, Sullivan",
    ),
    streets: list("Maple Street, Oak Avenue, Main Street, Cedar Lane, Lakeview Drive, Mill Road, Pine Ridge Road, Elm Street"),
    businesses: list("{family}'s Diner, {family} Family Farm LLC, {family} Auto Repair, {city} Lodge LLC"),
    factories: list("{family} Manufacturing Inc., {city} Asphalt Co., {family} Grain Dryers LLC"),
    housing: list("{family} Property Management LLC, {city} Mobile Home Park LLC"),
  },
};

export function countryOf(name: string): Country {
  const country = COUNTRIES[name];
  if (country === undefined) throw new Error(`the demo has no country ${name}`);
  return country;
}

export type DemoTown = {
  readonly country: string;
  readonly city: string;
  readonly region: string;
  readonly latitude: number;
  readonly longitude: number;
  /** Winters from 0 (mild) to 1 (severe). */
  readonly cold: number;
  /** Each # is a digit. Numbers reserved for fiction where the country has any. */
  readonly phone: string;
  readonly postalCodes: readonly string[];
  readonly districts: readonly string[];
};

const TOWN_TABLE = `
Germany | Freiburg | Baden-Württemberg | 47.9990 | 7.8421 | 0.75 | +49 761 5550 0### | 79098, 79100, 79102 | Wiehre, Herdern, Zähringen
Germany | Garmisch-Partenkirchen | Bayern | 47.4917 | 11.0955 | 1 | +49 8821 5550 0## | 82467 | Garmisch, Partenkirchen
Germany | Lüneburg | Niedersachsen | 53.2509 | 10.4141 | 0.8 | +49 4131 5550 0## | 21335, 21337 | Kaltenmoor, Rettmer, Ochtmissen
Germany | Erfurt | Thüringen | 50.9848 | 11.0299 | 0.85 | +49 361 5550 0### | 99084, 99089, 99096 | Andreasvorstadt, Löbervorstadt
France | Annecy | Auvergne-Rhône-Alpes | 45.8992 | 6.1294 | 0.85 | +33 4 65 71 ## ## | 74000, 74940 | Cran-Gevrier, Seynod
France | Colmar | Grand Est | 48.0794 | 7.3585 | 0.8 | +33 3 53 01 ## ## | 68000 | Saint-Joseph, Petite Venise
France | Quimper | Bretagne | 47.9960 | -4.1024 | 0.5 | +33 2 61 91 ## ## | 29000 | Ergué-Armel, Kerfeunteun, Penhars
United Kingdom | Inverness | Highland | 57.4778 | -4.2247 | 0.8 | +44 1632 960### | IV2 3ED, IV3 5NF | Crown, Dalneigh, Culduthel
United Kingdom | Hexham | Northumberland | 54.9710 | -2.1010 | 0.75 | +44 1632 960### | NE46 1QJ, NE46 3PB | Hencotes, Leazes
United Kingdom | Brecon | Powys | 51.9480 | -3.3910 | 0.65 | +44 1632 960### | LD3 7AL, LD3 8DU | Llanfaes, Watton
United States | Burlington | Vermont | 44.4759 | -73.2121 | 0.95 | +1 802 555 01## | 05401, 05408 | New North End, South End
United States | Duluth | Minnesota | 46.7867 | -92.1005 | 1 | +1 218 555 01## | 55803, 55804, 55811 | Lakeside, Woodland, Duluth Heights
United States | Bozeman | Montana | 45.6770 | -111.0429 | 1 | +1 406 555 01## | 59715, 59718 | Northside, Bridger Creek
United States | Asheville | North Carolina | 35.5951 | -82.5515 | 0.6 | +1 828 555 01## | 28801, 28803, 28806 | Montford, Kenilworth
`;

export const TOWNS: readonly DemoTown[] = TOWN_TABLE.trim().split("\n").map(parseTown);

function parseTown(row: string): DemoTown {
  const [country = "", city = "", region = "", latitude, longitude, cold, phone = "", postalCodes = "", districts = ""] =
    row.split(" | ");
  const numbers = { latitude: Number(latitude), longitude: Number(longitude), cold: Number(cold) };
  return { country, city, region, ...numbers, phone, postalCodes: list(postalCodes), districts: list(districts) };
}

const coldByCity = new Map(TOWNS.map(({ city, cold }) => [city, cold]));

/** Average where the tank's city is not recorded. */
export function coldAt(location: Location): number {
  return coldByCity.get(location.city ?? "") ?? 0.75;
}
