// The towns the demo fleet stands in. They are real; whoever lives there in the demo is not.

import type { Location } from "../domain/tank.ts";

export type Place = {
  readonly country: string;
  readonly city: string;
  readonly region: string;
  readonly latitude: number;
  readonly longitude: number;
  /** How cold the winters are: 0 mild, 1 severe. */
  readonly cold: number;
  /** Each # is a digit. Numbers kept for fiction where the country has such. */
  readonly phone: string;
  readonly postalCodes: readonly string[];
  readonly districts: readonly string[];
};

const TABLE = `
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

export const PLACES: readonly Place[] = TABLE.trim().split("\n").map(placeOf);

function placeOf(row: string): Place {
  const cells = row.split(" | ");
  const cell = (column: number): string => {
    const text = cells[column];
    if (text === undefined) throw new Error(`a place without column ${column}: ${row}`);
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

const coldByCity = new Map(PLACES.map((place) => [place.city, place.cold]));

/** A tank's record need not say where the tank stands; then its winters are middling. */
export function coldAt(location: Location): number {
  return coldByCity.get(location.city ?? "") ?? 0.75;
}
