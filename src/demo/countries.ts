// Data of the demo fleet by country: names of people, companies and streets, units, and towns. The towns are real; the people
// are not.

import type { CapacityUnit, Location, UseCase } from "../domain/tank.ts";

type Language = {
  readonly firstNames: readonly string[];
  readonly mailboxes: readonly string[];
  readonly tankNames: Readonly<Record<UseCase, readonly string[]>>;
};

/** Long lists of words are written on one line. */
const list = (words: string): readonly string[] => words.split(", ");

const GERMAN: Language = {
  firstNames: list(
    "Anna, Lukas, Katharina, Jonas, Martina, Stefan, Julia, Thomas, Eva, Florian, Sabine, Matthias, Claudia, Peter",
  ),
  mailboxes: list("office, info, kontakt, verwaltung"),
  tankNames: {
    residential: list("Heizung, Gartentank, Haus, Einfahrt, Hinterhof"),
    commercial: list("Küche, Backstube, Haupttank, Gewächshaus, Gästehaus"),
    industrial: list("Halle 1, Halle 2, Ofenlinie, Kesselhaus, Trocknung, Nordseite"),
  },
};

const FRENCH: Language = {
  firstNames: list("Camille, Hugo, Élodie, Julien, Sophie, Antoine, Claire, Mathieu, Nathalie, Pierre, Aurélie, Luc"),
  mailboxes: list("contact, info, bureau"),
  tankNames: {
    residential: list("Maison, Jardin, Chauffage, Garage"),
    commercial: list("Cuisine, Fournil, Cuve principale, Serre"),
    industrial: list("Atelier 1, Atelier 2, Chaufferie, Four, Séchoir"),
  },
};

const ITALIAN: Language = {
  firstNames: list("Giulia, Marco, Francesca, Luca, Chiara, Andrea, Elena, Matteo, Paola, Davide, Silvia, Stefano"),
  mailboxes: list("info, ufficio, amministrazione"),
  tankNames: {
    residential: list("Casa, Giardino, Riscaldamento, Cortile"),
    commercial: list("Cucina, Forno, Serbatoio principale, Serra"),
    industrial: list("Capannone 1, Capannone 2, Caldaia, Essiccatoio"),
  },
};

const SPANISH: Language = {
  firstNames: list("Lucía, Javier, Carmen, Pablo, Marta, Sergio, Elena, Álvaro, Pilar, Diego, Rocío, Manuel"),
  mailboxes: list("info, oficina, contacto"),
  tankNames: {
    residential: list("Casa, Jardín, Calefacción, Patio"),
    commercial: list("Cocina, Obrador, Depósito principal, Invernadero"),
    industrial: list("Nave 1, Nave 2, Sala de calderas, Horno, Secadero"),
  },
};

const ENGLISH: Language = {
  firstNames: list("Emma, James, Olivia, William, Grace, Thomas, Hannah, Daniel, Rachel, Andrew, Megan, Robert, Laura, Scott"),
  mailboxes: list("office, info, accounts, hello"),
  tankNames: {
    residential: list("House, Back yard, Heating, Garage, Driveway"),
    commercial: list("Kitchen, Main tank, Greenhouse, Workshop, Guest house"),
    industrial: list("Hall 1, Hall 2, Boiler house, Kiln, Dryer, North side"),
  },
};

export type Country = {
  readonly language: Language;
  /** Liters by default. */
  readonly unit?: CapacityUnit;
  readonly families: readonly string[];
  readonly streets: readonly string[];
  /** In addresses, the house number comes before the street. */
  readonly numberFirst?: true;
  /** Company names, with placeholders {family} and {city}. */
  readonly businesses: readonly string[];
  readonly factories: readonly string[];
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
    families: list(
      "Müller, Schmidt, Fischer, Weber, Wagner, Becker, Hoffmann, Schäfer, Koch, Richter, Klein, Wolf, Schröder, Neumann, Krüger, Vogt",
    ),
    streets: list("Lindenweg, Bahnhofstraße, Gartenstraße, Schulstraße, Am Mühlbach, Kirchgasse, Birkenweg, Industriestraße"),
    businesses: list(
      "Bäckerei {family}, Gasthof {family}, Gärtnerei {family}, Hotel {family}, Autohaus {family} GmbH, Campingpark {city}",
    ),
    factories: list("{family} Maschinenbau GmbH, Ziegelwerk {city} GmbH, Gießerei {family} & Söhne KG, Molkerei {city} eG"),
    housing: list("Hausverwaltung {family} GmbH, Wohnbau {city} eG, Ferienhäuser {family} GbR"),
  },
  Austria: {
    language: GERMAN,
    families: list("Gruber, Huber, Bauer, Pichler, Steiner, Moser, Mayer, Hofer, Leitner, Berger, Fuchs, Eder, Schwarz, Egger"),
    streets: list("Dorfstraße, Kirchenweg, Sonnleiten, Feldgasse, Bergstraße, Hauptplatz, Angerweg, Mühlgasse"),
    businesses: list("Gasthof {family}, Pension {family}, Konditorei {family}, Alpenhotel {family} GmbH, Tischlerei {family}"),
    factories: list("{family} Metalltechnik GmbH, Sägewerk {family} KG, Brauerei {city} GmbH"),
    housing: list("{family} Immobilien GmbH, Wohnheim {city} gGmbH, Almhütten {family} OG"),
  },
  Switzerland: {
    language: GERMAN,
    families: list("Meier, Keller, Brunner, Baumann, Frei, Zimmermann, Gerber, Caduff, Lüthi, Wyss, Zürcher, Aebi"),
    streets: list("Seestrasse, Bahnhofstrasse, Dorfstrasse, Obere Gasse, Schulhausweg, Rheinstrasse, Allmendweg"),
    businesses: list("Restaurant {family}, Garage {family} AG, Bäckerei {family}, Berghaus {family}, Käserei {family}"),
    factories: list("{family} Präzisionstechnik AG, Kieswerk {city} AG, Holzbau {family} AG"),
    housing: list("Immobilien {family} AG, Wohngenossenschaft {city}"),
  },
  France: {
    language: FRENCH,
    families: list(
      "Martin, Bernard, Durand, Lefèvre, Moreau, Girard, Rousseau, Fournier, Mercier, Blanc, Guérin, Le Goff, Chevalier",
    ),
    streets: list("Rue de la Gare, Rue des Tilleuls, Avenue de la République, Chemin des Prés, Rue du Moulin, Impasse des Lilas"),
    numberFirst: true,
    businesses: list("Boulangerie {family}, Auberge {family}, Hôtel {family}, Camping de {city}, Garage {family} SARL"),
    factories: list("Fonderie {family} SAS, Laiterie de {city} SA, Ateliers {family} SAS"),
    housing: list("Gîtes {family}, Immobilière {family} SARL, Habitat de {city} SCI"),
  },
  Italy: {
    language: ITALIAN,
    families: list("Rossi, Bianchi, Ferrari, Esposito, Romano, Conti, Gallo, Costa, Fontana, Moretti, Barbieri, Rinaldi"),
    streets: list("Via Roma, Via Garibaldi, Via dei Tigli, Via della Stazione, Strada Vecchia, Via Mazzini, Viale Europa"),
    businesses: list("Panificio {family}, Trattoria {family}, Agriturismo {family}, Albergo {family}, Vivai {family} s.s."),
    factories: list("Officine {family} S.r.l., Caseificio {family} S.p.A., Fornace {family} S.r.l."),
    housing: list("Immobiliare {family} S.r.l., Residenze di {city} S.r.l."),
  },
  Spain: {
    language: SPANISH,
    families: list("García, Fernández, López, Martínez, Sánchez, Romero, Navarro, Ortega, Delgado, Molina, Iglesias, Campos"),
    streets: list("Calle Mayor, Calle del Sol, Avenida de la Paz, Camino del Molino, Calle de la Fuente, Plaza de España"),
    businesses: list("Panadería {family}, Hostal {family}, Casa Rural {family}, Restaurante {family}, Viveros {family} S.L."),
    factories: list("Talleres {family} S.L., Cerámicas {family} S.A., Cárnicas de {city} S.A."),
    housing: list("Inmobiliaria {family} S.L., Residencial {city} S.L."),
  },
  "United Kingdom": {
    language: ENGLISH,
    families: list(
      "Campbell, Davies, Evans, Fraser, Hughes, MacDonald, Morgan, Robson, Stewart, Taylor, Thompson, Wood, Wright, Price",
    ),
    streets: list("Church Lane, Station Road, High Street, Mill Lane, The Green, Victoria Road, School Lane, Castle Street"),
    numberFirst: true,
    businesses: list(
      "{family} & Sons Bakery, The {family} Arms, {family} Garden Centre Ltd, {family} Guest House, {city} Caravan Park Ltd",
    ),
    factories: list("{family} Engineering Ltd, {city} Distillery Ltd, {family} Castings Ltd"),
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
    factories: list("{family} Manufacturing Inc., {city} Asphalt Co., {family} Grain Dryers LLC"),
    housing: list("{family} Property Management LLC, {city} Mobile Home Park LLC"),
  },
  Canada: {
    language: ENGLISH,
    families: [...englishFamilies, "MacLeod", "Tremblay", "Leblanc", "Singh"],
    streets: [...americanStreets, "Queen Street", "River Road"],
    numberFirst: true,
    businesses: list("{family} Farms Ltd., {family} Outfitters, {family} Bakery, {city} Motor Inn Ltd."),
    factories: list("{family} Forest Products Ltd., {city} Aggregates Inc., {family} Welding Ltd."),
    housing: list("{family} Rentals Inc., {city} Cottage Resort Ltd."),
  },
};

export function countryOf(name: string): Country {
  const country = COUNTRIES[name];
  if (country === undefined) throw new Error(`the demo has no country ${name}`);
  return country;
}

export type Town = {
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
Austria | Innsbruck | Tirol | 47.2692 | 11.4041 | 1 | +43 512 5550 0## | 6020 | Hötting, Pradl, Wilten
Austria | Graz | Steiermark | 47.0707 | 15.4395 | 0.85 | +43 316 5550 0## | 8010, 8020, 8045 | Lend, Gries, Andritz
Austria | Zell am See | Salzburg | 47.3254 | 12.7945 | 1 | +43 6542 5550 0# | 5700 | Schüttdorf, Thumersbach
Switzerland | Chur | Graubünden | 46.8508 | 9.5320 | 0.95 | +41 81 555 00 ## | 7000 | Masans, Lürlibad
Switzerland | Thun | Bern | 46.7580 | 7.6280 | 0.9 | +41 33 555 00 ## | 3600, 3604 | Dürrenast, Lerchenfeld
France | Annecy | Auvergne-Rhône-Alpes | 45.8992 | 6.1294 | 0.85 | +33 4 65 71 ## ## | 74000, 74940 | Cran-Gevrier, Seynod
France | Colmar | Grand Est | 48.0794 | 7.3585 | 0.8 | +33 3 53 01 ## ## | 68000 | Saint-Joseph, Petite Venise
France | Quimper | Bretagne | 47.9960 | -4.1024 | 0.5 | +33 2 61 91 ## ## | 29000 | Ergué-Armel, Kerfeunteun, Penhars
Italy | Bolzano | Trentino-Alto Adige | 46.4983 | 11.3548 | 0.85 | +39 0471 555 0## | 39100 | Gries, Oltrisarco
Italy | Cuneo | Piemonte | 44.3845 | 7.5427 | 0.8 | +39 0171 555 0## | 12100 | San Rocco Castagnaretta, Madonna dell'Olmo
Italy | L'Aquila | Abruzzo | 42.3498 | 13.3995 | 0.75 | +39 0862 555 0## | 67100 | Paganica, Coppito
Spain | Burgos | Castilla y León | 42.3439 | -3.6969 | 0.75 | +34 947 555 0## | 09001, 09003, 09006 | Gamonal, Capiscol
Spain | Huesca | Aragón | 42.1362 | -0.4087 | 0.6 | +34 974 555 0## | 22001, 22003 | San Lorenzo, Perpetuo Socorro
Spain | Granada | Andalucía | 37.1773 | -3.5986 | 0.45 | +34 958 555 0## | 18001, 18010 | Albaicín, Realejo, Zaidín
United Kingdom | Inverness | Highland | 57.4778 | -4.2247 | 0.8 | +44 1632 960### | IV2 3ED, IV3 5NF | Crown, Dalneigh, Culduthel
United Kingdom | Hexham | Northumberland | 54.9710 | -2.1010 | 0.75 | +44 1632 960### | NE46 1QJ, NE46 3PB | Hencotes, Leazes
United Kingdom | Brecon | Powys | 51.9480 | -3.3910 | 0.65 | +44 1632 960### | LD3 7AL, LD3 8DU | Llanfaes, Watton
United States | Burlington | Vermont | 44.4759 | -73.2121 | 0.95 | +1 802 555 01## | 05401, 05408 | New North End, South End
United States | Duluth | Minnesota | 46.7867 | -92.1005 | 1 | +1 218 555 01## | 55803, 55804, 55811 | Lakeside, Woodland, Duluth Heights
United States | Bozeman | Montana | 45.6770 | -111.0429 | 1 | +1 406 555 01## | 59715, 59718 | Northside, Bridger Creek
United States | Asheville | North Carolina | 35.5951 | -82.5515 | 0.6 | +1 828 555 01## | 28801, 28803, 28806 | Montford, Kenilworth
Canada | Thunder Bay | Ontario | 48.3809 | -89.2477 | 1 | +1 807 555 01## | P7A 4B3, P7B 5E1 | Port Arthur, Westfort, Current River
Canada | Kamloops | British Columbia | 50.6745 | -120.3273 | 0.85 | +1 250 555 01## | V2B 3H9, V2C 2J4 | Brocklehurst, Sahali, Aberdeen
Canada | Fredericton | New Brunswick | 45.9636 | -66.6431 | 0.95 | +1 506 555 01## | E3A 4Y5, E3B 1C8 | Devon, Marysville, Nashwaaksis
`;

export const TOWNS: readonly Town[] = TOWN_TABLE.trim().split("\n").map(parseTown);

function parseTown(row: string): Town {
  const cells = row.split(" | ");
  const cell = (column: number): string => {
    const text = cells[column];
    if (text === undefined) throw new Error(`no column ${column} in the town: ${row}`);
    return text;
  };
  return {
    country: cell(0),
    city: cell(1),
    region: cell(2),
    latitude: Number(cell(3)),
    longitude: Number(cell(4)),
    cold: Number(cell(5)),
    phone: cell(6),
    postalCodes: cell(7).split(", "),
    districts: cell(8).split(", "),
  };
}

const coldByCity = new Map(TOWNS.map(({ city, cold }) => [city, cold]));

/** Average where the tank's city is not recorded. */
export function coldAt(location: Location): number {
  return coldByCity.get(location.city ?? "") ?? 0.75;
}
